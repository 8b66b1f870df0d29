"""Sweeps: ending the rest of a run from any process, first through its guardian, then by its mark.

The mark is an environment variable by which the processes of a run are found without their guardian.
"""

import asyncio
import os
import signal
import sys
import time
from collections.abc import Generator
from contextlib import contextmanager, suppress
from typing import Final

from covey.adapters.process.guard import folder as files
from covey.adapters.process.guard.supervision import KILL_LIMIT_S, SWEEP
from covey.core.errors import LauncherUnavailable
from covey.disk.file_lock import FileLock
from covey.ports.launcher import RUN_VARIABLE

HAS_PROC: Final = sys.platform == "linux"


def marked(run: str) -> list[int]:
    """Return this user's processes with the mark of the run, except this one. Without /proc, none are found."""
    if not HAS_PROC:
        return []
    own = os.getpid()
    return [
        int(name) for name in os.listdir("/proc") if name.isdecimal() and int(name) != own and _is_marked(name, run)
    ]


def kill(pid: int, run: str) -> bool:
    """Kill a process if it still has the mark of the run; tell whether it was killed."""
    try:
        handle = os.pidfd_open(pid)
    except ProcessLookupError:
        return False
    except OSError:  # an old kernel: the id may be reused between the check and the kill
        return _is_marked(str(pid), run) and _kill(pid)
    try:
        # The handle is bound to the process that has the id now; the second check tells whether that is still a process
        # of the run.
        if not _is_marked(str(pid), run):
            return False
        signal.pidfd_send_signal(handle, signal.SIGKILL)
    except OSError:
        return False
    finally:
        os.close(handle)
    return True


def _kill(pid: int) -> bool:
    try:
        os.kill(pid, signal.SIGKILL)
    except OSError:
        return False
    return True


def kill_group(group: int) -> None:
    """Kill a process group, if it exists."""
    if group <= 1:
        raise ValueError(group)  # the system reads 0 as our own group and 1 as all processes
    try:
        os.killpg(group, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        return


def _is_marked(pid: str, run: str) -> bool:
    try:
        with open(f"/proc/{pid}/environ", "rb") as file:
            return f"{RUN_VARIABLE}={run}".encode() in file.read().split(b"\0")
    except OSError:  # the process is gone, or belongs to another user
        return False


SWEEP_S: Final = KILL_LIMIT_S + 5.0
"""Time limit of a guardian to end its run, and of the remaining kills after that."""
_PATIENCE_S: Final = 5.0
"""Time limit of a killed guardian to disappear."""
_PAUSE_S: Final = 0.005


async def sweep(run: str, folder: str) -> int:
    """Kill the remaining processes of the run in a folder, and prevent any later start there; return the number of
    processes. A folder of another run is left alone."""
    found = set(marked(run))
    with _hold(folder) as hold:
        if hold is not None and await _end_guardian(hold, run):
            program = files.held(hold.descriptor).program
            if program and not HAS_PROC and files.recorded(folder) is None:
                kill_group(program)
        until = time.monotonic() + SWEEP_S
        while left := marked(run):
            found |= {pid for pid in left if kill(pid, run)}
            if time.monotonic() > until:
                raise LauncherUnavailable(f"processes of run {run} can't be killed: {left}")
            await asyncio.sleep(_PAUSE_S)
    return len(found)


def was_begun(run: str, folder: str) -> bool:
    """Tell whether a guardian has claimed the folder for the run: then the program may have run."""
    try:
        hold = os.open(os.path.join(folder, files.HOLD), os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        return files.held(hold).run == run
    finally:
        os.close(hold)


@contextmanager
def _hold(folder: str) -> Generator[FileLock | None]:
    """Open the lock file of a run's folder; None if the folder can't exist, and so no run can."""
    try:
        files.make(folder)
        hold = FileLock(os.path.join(folder, files.HOLD))
    except (FileNotFoundError, NotADirectoryError):
        yield None
        return
    except OSError as error:
        raise LauncherUnavailable(f"{folder}: {os.strerror(error.errno or 0)}") from None
    try:
        yield hold
    finally:
        hold.close()


async def _end_guardian(hold: FileLock, run: str) -> bool:
    """Ask the run's guardian to end the run, and take its lock, so that no guardian can start. Tell whether the lock
    was taken; another run's guardian is left alone."""
    until = time.monotonic() + SWEEP_S
    has_asked = False
    while not hold.take_at_once():
        held = files.held(hold.descriptor)
        if held.run not in ("", run):
            return False
        if time.monotonic() > until + _PATIENCE_S:
            raise LauncherUnavailable(f"the guardian of run {run} can't be killed: {held.guardian}")
        if held.guardian and time.monotonic() > until:
            _signal(held.guardian, signal.SIGKILL)
        elif held.guardian and not has_asked:
            _signal(held.guardian, SWEEP)
            has_asked = True
        await asyncio.sleep(_PAUSE_S)
    return True


def _signal(pid: int, number: signal.Signals) -> None:
    with suppress(ProcessLookupError):
        os.kill(pid, number)
