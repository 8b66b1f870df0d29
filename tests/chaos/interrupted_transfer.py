"""Exports, imports and moves that are killed repeatedly: each time, check the state left behind and the rerun."""

import json
import os
import tempfile
from collections.abc import Collection
from pathlib import Path
from random import Random, randrange

from covey.adapters.sqlite.care.views import SqliteViews
from covey.adapters.system.blobs import BlobFiles
from covey.core.formats.export import ExportReader
from covey.core.ledger.message import FilePart, Kind
from covey.core.names import AgentName
from tests.chaos.interrupting import IMPORT_BATCH, KILLED, Interrupter, interrupter
from tests.chaos.talkative import let_talk
from tests.properties.world import finish
from tests.services.spaces import Space, in_sqlite
from tests.services.transferring import Everything, check_equal, check_sound, everything

KILLS_EACH = 5
"""The number of kills of an import into one space before it may finish."""

FEWEST_TARGETS = 2
"""One whose first kill is at a random record, and one whose first kill is at a random time."""
LAST_RECORD = 4 * IMPORT_BATCH
"""Kills at a record come before this one. Every space here has more."""

NAMES = [AgentName(name) for name in ("ann", "bob", "cy")]


def killed_again_and_again(messages: int, kills: int) -> None:
    """Export a space and import it, killing each `kills` times at random moments. Fail if any record is lost."""
    seed = int(os.environ.get("COVEY_SEED") or randrange(2**32))
    print(f"\nCOVEY_SEED={seed} repeats the choices of this run")
    with tempfile.TemporaryDirectory(prefix="covey-transfer-") as name, interrupter() as commands:
        folder = Path(name)
        (folder / "first").mkdir()
        first = in_sqlite(folder / "first" / "covey.db", BlobFiles(str(folder / "first")))
        _fill(first, messages)
        expected = everything(first.views)
        file = _export(commands, folder, Random(seed), kills)
        _take(commands, folder, ["import", str(file), "--store"], Random(seed), kills, expected)
        finish(first.store.close())


def moved_again_and_again(messages: int, kills: int, layout: str | None = None) -> None:
    """Move a space, killing the move `kills` times at random moments. Fail if any record is lost, on either side.

    With a layout, the target is a shared folder.
    """
    seed = int(os.environ.get("COVEY_SEED") or randrange(2**32))
    print(f"\nCOVEY_SEED={seed} repeats the choices of this run")
    with tempfile.TemporaryDirectory(prefix="covey-move-") as name, interrupter() as commands:
        folder = Path(name)
        (folder / "first").mkdir()
        first = in_sqlite(folder / "first" / "covey.db", BlobFiles(str(folder / "first")))
        _fill(first, messages)
        expected = everything(first.views)
        words = ["move", f"sqlite:{folder / 'first' / 'covey.db'}"]
        _take(commands, folder, words, Random(seed), kills, expected, layout)
        check_equal(everything(first.views), expected, Everything._fields)
        finish(first.store.close())


def _fill(space: Space, messages: int) -> None:
    """Fill a space with messages, files and answers. All agents have left at the end."""
    let_talk(space.services)
    people = [space.join(name) for name in NAMES]
    for n in range(messages):
        sender, to = people[n % 3], NAMES[(n + 1) % 3]
        content = f"file {n % 7}".encode()
        part = FilePart("file.txt", finish(space.blobs.put(content)), len(content))
        asked = space.send(sender, to, f"message {n} " + "x" * (n % 900), part, kind=Kind.REQUEST, scope=f"s{n % 5}")
        if n % 2:
            space.send(people[(n + 1) % 3], sender.agent, "yes", kind=Kind.RESPONSE, answers=asked, scope=f"s{n % 5}")
    for person in people:
        finish(space.services.directory.leave(person))


def _export(commands: Interrupter, folder: Path, random: Random, kills: int) -> Path:
    """Kill exports: a file under its name is complete or does not exist. Return a complete one."""
    file = folder / "space.jsonl"
    words = ["export", str(file), "--store", f"sqlite:{folder / 'first' / 'covey.db'}"]
    whole = commands.run(words)
    assert whole.code == 0
    digest = _read(file)
    for _ in range(kills):
        file.unlink(missing_ok=True)
        killed = commands.run(words, random.uniform(0, whole.took_s * 1.2))
        assert killed.code in (0, KILLED)
        assert not file.exists() or _read(file) == digest
    assert commands.run([*words, "--replace"]).code == 0
    assert _read(file) == digest
    assert sorted(path.name for path in folder.glob("space*")) == ["space.jsonl"]
    return file


def _take(
    commands: Interrupter,
    folder: Path,
    command: list[str],
    random: Random,
    kills: int,
    expected: Everything,
    layout: str | None = None,
) -> None:
    """Kill a command that takes a space to another store, until it finishes for each of several targets.

    The target is the last argument of the command. After each finish, every record is there. For every second target,
    the first kill is at a random record. The others are at random times: if the machine becomes slower, all of these
    may come before the first commit.
    """
    killed = begun = targets = 0
    whole = commands.run([*command, _store(folder / "whole", layout)])
    assert whole.code == 0
    took_s = whole.took_s
    while killed < kills or targets < FEWEST_TARGETS:
        targets += 1
        target = folder / f"target{targets}"
        path = target / ".covey" / "covey.db" if layout else target / "covey.db"
        words = [*command, _store(target, layout)]
        if targets % 2:
            ended = commands.run(words, kill_at_record=random.randrange(IMPORT_BATCH, LAST_RECORD))
            assert ended.code == KILLED
            assert _has_begun(path), f"{command[0]} was killed before its first commit"
        else:
            ended = commands.run(words, random.uniform(0, took_s * 0.9))
        if ended.code != KILLED:
            took_s = ended.took_s  # the speed of the machine changes, and a kill after the end does not count
        for _ in range(KILLS_EACH):
            if ended.code != KILLED:
                break
            killed += 1
            begun += _has_begun(path)
            ended = commands.run(words, random.uniform(0, took_s * 0.9))
        if ended.code == KILLED:
            ended = commands.run(words)
        assert ended.code == 0
        space = in_sqlite(path)
        check_sound(space.services)
        check_equal(everything(space.views), expected, Everything._fields)
        blobs = BlobFiles(str(path.parent))
        parts = (part for filed in expected.messages for part in filed.message.parts)
        assert all(finish(blobs.has(part.digest)) for part in parts if isinstance(part, FilePart))
        finish(space.store.close())
        if layout:
            check_files(target, {filed.message.id for filed in expected.messages})
    print(f"{killed} of {command[0]} to {targets} spaces were killed, {begun} midway; one takes {whole.took_s:.2f} s")
    assert begun, f"no {command[0]} was killed in the middle"


def _store(folder: Path, layout: str | None) -> str:
    return f"files:{folder}?layout={layout}" if layout else f"sqlite:{folder / 'covey.db'}"


def check_files(folder: Path, messages: Collection[str]) -> None:
    """Fail if a message has no readable file, or two, or an incomplete one."""
    files = [path for path in folder.rglob("*.json") if path.name != "_registry.json"]
    found = [json.loads(path.read_bytes())["id"] for path in files]
    assert len(found) == len(messages)
    assert set(found) == set(messages)


def _has_begun(path: Path) -> bool:
    """Return True if some records of an import are in a space."""

    async def look() -> bool:
        async with SqliteViews(path).view() as view:
            return bool(await view.agents())

    return path.exists() and finish(look())


def _read(file: Path) -> str:
    """Read an export to its end. Return its digest."""
    reader = ExportReader()
    with file.open("rb") as lines:
        for line in lines:
            reader.take(line)
    return reader.end().digest
