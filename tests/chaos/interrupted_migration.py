"""Migrations that are killed repeatedly: the store has the old schema or the new one, and nothing in between."""

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from random import Random, randrange

import apsw

from covey.adapters.sqlite.engine.access import on_one_cursor
from tests.chaos.operated_space import fill
from tests.surfaces.versions import NAME, SLOW, install_newer

LIMIT_S = 60.0

MIGRATE = """
import sys
from covey.adapters.sqlite.transactions.store import SqliteStore
print("ready", flush=True)
SqliteStore(sys.argv[1])
print("done", flush=True)
"""


def migrations_killed_again_and_again(kills: int) -> None:
    """Kill a newer program `kills` times while it migrates a store."""
    seed = int(os.environ.get("COVEY_SEED") or randrange(2**32))
    print(f"\nCOVEY_SEED={seed} repeats the choices of this run")
    random = Random(seed)
    with tempfile.TemporaryDirectory(prefix="covey-migrate-") as name:
        folder = Path(name)
        path = install_newer(folder / "newer", SLOW)
        (folder / "template").mkdir()
        fill(folder / "template" / "covey.db", 30)
        messages = _count(folder / "template" / "covey.db", "messages")
        takes_s = _migrate(folder / "template", folder / "timed", path, None)
        killed = 0
        for n in range(kills):
            killed += _migrate(folder / "template", folder / f"space{n}", path, random.uniform(0, takes_s)) == 0
            _check(folder / f"space{n}" / "covey.db", messages)
            _migrate(folder / f"space{n}", folder / f"space{n}", path, None)
            _check(folder / f"space{n}" / "covey.db", messages, is_done=True)
            shutil.rmtree(folder / f"space{n}")
        print(f"{killed} migrations were killed while they ran; one takes {takes_s:.2f} s")
        assert killed


def _migrate(source: Path, target: Path, path: str, kill_after_s: float | None) -> float:
    """Let the newer program open a copy of a space.

    Return the duration, or 0 if the program was killed before the end.
    """
    if source != target:
        shutil.copytree(source, target)
    command = [sys.executable, "-c", MIGRATE, str(target / "covey.db")]
    environment = {**os.environ, "PYTHONPATH": path}
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        begun = time.monotonic()
        if kill_after_s is not None:
            time.sleep(kill_after_s)  # the moment of the kill
            process.send_signal(signal.SIGKILL)
        said = process.stdout.readline()
        took_s = time.monotonic() - begun
        process.wait(LIMIT_S)
    return took_s if said == "done\n" else 0


def _check(path: Path, messages: int, *, is_done: bool = False) -> None:
    """Check that no message is lost, and that the migration is complete or not there."""
    connection = apsw.Connection(str(path))
    try:
        execute = on_one_cursor(connection)
        assert execute("pragma integrity_check").get == "ok"
        is_there = NAME in [name for (name,) in execute("select name from migrations")]
        assert is_there or not is_done
        tables = [name for (name,) in execute("select name from sqlite_schema where name in ('newer', 'bulk')")]
        assert sorted(tables) == (["bulk", "newer"] if is_there else [])
        if is_there:
            assert execute("select count(*) from newer").get == 1
            assert execute("select count(*) from bulk").get == 60_000
    finally:
        connection.close()
    assert _count(path, "messages") == messages


def _count(path: Path, table: str) -> int:
    connection = apsw.Connection(str(path))
    try:
        return on_one_cursor(connection)(f"select count(*) from {table}").get
    finally:
        connection.close()
