"""The mark of a run: an environment variable by which its processes are found without their guardian."""

import os
import signal
import sys
from typing import Final

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
