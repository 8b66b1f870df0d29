"""Commands that are killed at a given moment.

A warm process has imported everything and opened nothing. It forks for each command, so that the moment lies in the
command and not in its start-up. Only this process kills: a process that its parent has not waited for keeps its id.

Requests arrive on standard input, one a line: the command, and the seconds after which to kill it, as JSON; null lets
it end. Each is answered with a line: the exit code of the command, and its duration.
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

from covey.services.care import prune
from covey.services.transfer import imports as transfer_import
from covey.surfaces.cli.main import load
from covey.surfaces.cli.main import main as covey

ROOT = Path(__file__).parents[2]
KILLED = -signal.SIGKILL


class Ended(NamedTuple):
    code: int
    """The exit code, or KILLED."""
    took_s: float


class Interrupter:
    """Runs commands in separate processes, and kills them."""

    def __init__(self, process: "subprocess.Popen[str]") -> None:
        self._process = process

    def run(self, words: Sequence[str], kill_after_s: float | None = None) -> Ended:
        """Run a command. With a time, kill it then, unless it has already ended."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps([list(words), kill_after_s]) + "\n")
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
    transfer_import.BATCH = 40  # pyright: ignore[reportConstantRedefinition]  # on purpose
    prune.BATCH = 20  # pyright: ignore[reportConstantRedefinition]  # on purpose
    gc.freeze()
    for line in sys.stdin:
        words, kill_after_s = json.loads(line)
        print(json.dumps(_run(words, kill_after_s)), flush=True)


def _run(words: Sequence[str], kill_after_s: float | None) -> Ended:
    begun = time.monotonic()
    pid = os.fork()
    if pid == 0:
        _be(words)
    if kill_after_s is not None:
        time.sleep(kill_after_s)  # the moment of the kill
        os.kill(pid, signal.SIGKILL)
    _, status = os.waitpid(pid, 0)
    return Ended(os.waitstatus_to_exitcode(status), time.monotonic() - begun)


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
