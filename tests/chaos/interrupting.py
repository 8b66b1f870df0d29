"""Commands that are killed at a given moment: after a time, or at a record that an import writes.

A warm process has imported everything and opened nothing. It forks for each command, so that the moment lies in the
command and not in its start-up. Only this process kills: a process that its parent has not waited for keeps its id.

Requests arrive on standard input, one a line, as JSON: the command, the seconds after which to kill it, and the record
at which it kills itself; null lets it end. Each is answered with a line: the exit code of the command, and its
duration.
"""

import gc
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from covey.ports.store import Transaction
from covey.services.care import prune
from covey.services.transfer import imports as transfer_import
from covey.services.transfer.imports import ImportProgress
from covey.surfaces.cli.main import load
from covey.surfaces.cli.main import main as covey

ROOT = Path(__file__).parents[2]
KILLED = -signal.SIGKILL
IMPORT_BATCH = 40
"""The number of records that an import writes in one commit."""


class Ended(NamedTuple):
    code: int
    """The exit code, or KILLED."""
    took_s: float


class Interrupter:
    """Runs commands in separate processes, and kills them."""

    def __init__(self, process: "subprocess.Popen[str]") -> None:
        self._process = process

    def run(self, words: Sequence[str], kill_after_s: float | None = None, kill_at_record: int | None = None) -> Ended:
        """Run a command. With a time, kill it then, unless it has already ended.

        With a record, the command is killed inside the commit that takes its import beyond this record. The speed of
        the machine does not change that moment.
        """
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps([list(words), kill_after_s, kill_at_record]) + "\n")
        self._process.stdin.flush()
        return Ended(*json.loads(self._process.stdout.readline()))


@contextmanager
def interrupter() -> Generator[Interrupter]:
    """Start the warm process. It ends with the block, together with its children."""
    command = [sys.executable, "-m", "tests.chaos.interrupting"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=ROOT) as process:
        yield Interrupter(process)


def serve() -> None:
    """Serve requests until the input ends."""
    for verb in ("export", "import", "move", "prune", "backup", "restore"):
        load(verb)
    # Small batches make many commits, and so more moments between two of them.
    transfer_import.BATCH = IMPORT_BATCH  # pyright: ignore[reportConstantRedefinition]  # on purpose
    prune.BATCH = 20  # pyright: ignore[reportConstantRedefinition]  # on purpose
    gc.freeze()
    for line in sys.stdin:
        words, kill_after_s, kill_at_record = json.loads(line)
        print(json.dumps(_run(words, kill_after_s, kill_at_record)), flush=True)


def _run(words: Sequence[str], kill_after_s: float | None, kill_at_record: int | None) -> Ended:
    begun = time.monotonic()
    pid = os.fork()
    if pid == 0:
        if kill_at_record is not None:
            _die_at(kill_at_record)
        _be(words)
    if kill_after_s is not None:
        time.sleep(kill_after_s)  # the moment of the kill
        os.kill(pid, signal.SIGKILL)
    _, status = os.waitpid(pid, 0)
    return Ended(os.waitstatus_to_exitcode(status), time.monotonic() - begun)


def _die_at(record: int) -> None:
    """Make an import in this process kill it inside the commit that goes beyond a record."""
    write_progress = transfer_import.write_progress

    async def write(tx: Transaction, digest: str, progress: ImportProgress) -> None:
        if progress.lines > record:
            os.kill(os.getpid(), signal.SIGKILL)
        await write_progress(tx, digest, progress)

    transfer_import.write_progress = write


def _be(words: Sequence[str]) -> None:
    """Run the command in this process, and exit."""
    code = 1
    try:
        nothing = os.open(os.devnull, os.O_RDWR)
        os.dup2(nothing, 0)
        os.dup2(nothing, 1)
        code = covey(words)
    finally:
        os._exit(code)


if __name__ == "__main__":
    serve()
