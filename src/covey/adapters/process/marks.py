"""The mark that the processes of a run carry in their environment, by which they are found without their guardian."""

import os
import signal
import sys
from typing import Final

from covey.ports.launcher import RUN_VARIABLE

HAS_PROC: Final = sys.platform == "linux"


def marked(run: str) -> list[int]:
    """Return this user's processes that carry the run in their environment, other than this one. Where there is no
    /proc none can be seen."""
    if not HAS_PROC:
        return []
    own = os.getpid()
    return [
        int(name) for name in os.listdir("/proc") if name.isdecimal() and int(name) != own and _is_marked(name, run)
    ]


def kill(pid: int, run: str) -> bool:
    """Kill a process if it still is one of the run; tell whether it was."""
    try:
        handle = os.pidfd_open(pid)
    except ProcessLookupError:
        return False
    except OSError:  # an old kernel: between looking and killing another one may get the id
        return _is_marked(str(pid), run) and _kill(pid)
    try:
        # Now the handle stands for whoever has the id; looking again tells whether that is the one we mean.
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
    """Kill a process group, if it is there."""
    if group <= 1:
        raise ValueError(group)  # to the system, that is our own group, or everybody
    try:
        os.killpg(group, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        return


def _is_marked(pid: str, run: str) -> bool:
    try:
        with open(f"/proc/{pid}/environ", "rb") as file:
            return f"{RUN_VARIABLE}={run}".encode() in file.read().split(b"\0")
    except OSError:  # gone, or another user's
        return False
