"""Small programs for tests of a launcher, and checks of the processes of a run."""

import os
import sys
import time
from collections.abc import Callable
from itertools import count
from pathlib import Path
from typing import Final

from covey.ports.launcher import RUN_VARIABLE, Program

SOON_S: Final = 20.0
"""The limit of a wait in seconds; a test that passes never waits so long."""

_numbers = count(1)


def a_program(folder: Path, *argv: str, stdin: bytes | None = None, grace: float = SOON_S) -> Program:
    """Return a program with its own run id, and its own folder within `folder`."""
    run = f"run-{os.getpid()}-{next(_numbers)}"
    return Program(
        argv=argv,
        cwd=str(folder),
        env={"PATH": os.environ.get("PATH", os.defpath)},
        folder=str(folder / run),
        run=run,
        stdin=stdin,
        grace=grace,
    )


def a_script(folder: Path, script: str, *, stdin: bytes | None = None, grace: float = SOON_S) -> Program:
    """Return a program that is a script for sh."""
    return a_program(folder, "sh", "-c", script, stdin=stdin, grace=grace)


def processes(run: str) -> list[int]:
    """Return the ids of the processes that carry a run's mark. Only Linux has this list; elsewhere it is empty."""
    if sys.platform != "linux":
        return []
    return [int(place.name) for place in Path("/proc").iterdir() if place.name.isdecimal() and _carries(place, run)]


def _carries(place: Path, run: str) -> bool:
    try:
        return f"{RUN_VARIABLE}={run}".encode() in (place / "environ").read_bytes().split(b"\0")
    except OSError:
        return False


def is_there(pid: int) -> bool:
    """Tell whether a process exists; a zombie counts."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def becomes(condition: Callable[[], bool]) -> bool:
    """Wait until a condition holds. Return False after `SOON_S` seconds."""
    until = time.monotonic() + SOON_S
    while not condition():
        if time.monotonic() > until:
            return False
        time.sleep(0.002)
    return True
