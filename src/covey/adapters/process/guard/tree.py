"""The tree of processes beneath one: who is in it, how it is ended, and how it is kept from getting away.

On Linux nothing gets away: a process whose parent ends comes to the nearest ancestor that adopts orphans. Elsewhere
what leaves the program's process group is not seen.
"""

import ctypes
import os
import signal
import sys
import time
from collections.abc import Callable
from typing import Final

from covey.core.backoff import Backoff

IS_LINUX: Final = sys.platform == "linux"

_SET_PDEATHSIG: Final = 1
_SET_CHILD_SUBREAPER: Final = 36
_libc: Final = ctypes.CDLL(None) if IS_LINUX else None

PAUSE_S: Final = 0.02
"""How long to wait for killed processes to be gone before looking again."""


def adopt_orphans() -> None:
    """From now on the orphans among our descendants become our children."""
    if _libc is not None:
        _libc.prctl(_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def die_with(parent: int) -> None:
    """From now on the kernel kills us when our parent dies; leave at once where that has happened already."""
    if _libc is not None:
        _libc.prctl(_SET_PDEATHSIG, int(signal.SIGKILL), 0, 0, 0)
        if os.getppid() != parent:
            os._exit(1)


def live_on() -> None:
    """From now on our parent's death is nothing to us."""
    if _libc is not None:
        _libc.prctl(_SET_PDEATHSIG, 0, 0, 0, 0)


def descendants() -> list[int]:
    """Return the processes beneath this one. Others may fork meanwhile: whoever needs all of them looks again."""
    beneath: dict[int, list[int]] = {}
    for name in os.listdir("/proc") if IS_LINUX else ():
        if name.isdecimal():
            beneath.setdefault(_parent(name), []).append(int(name))
    found = [os.getpid()]
    for pid in found:
        found += beneath.get(pid, ())
    return found[1:]


def children() -> list[int]:
    """Return the processes whose parent is this one."""
    own = os.getpid()
    return [int(name) for name in os.listdir("/proc") if name.isdecimal() and _parent(name) == own] if IS_LINUX else []


def _parent(pid: str) -> int:
    try:
        descriptor = os.open(f"/proc/{pid}/stat", os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return 0
    try:
        stat = os.read(descriptor, 1024)
    except OSError:
        return 0
    finally:
        os.close(descriptor)
    return int(stat[stat.rfind(b")") + 1 :].split()[1])  # the name before it may hold anything


def signal_tree(group: int, number: int) -> None:
    """Send a signal to all processes beneath this one, and where they can't be seen to a process group."""
    if not IS_LINUX:
        _signal(os.killpg, group, number)
    for pid in descendants():
        _signal(os.kill, pid, number)


def _signal(send: Callable[[int, int], None], target: int, number: int) -> None:
    try:
        send(target, number)
    except (ProcessLookupError, PermissionError):  # gone, or another user's
        return


def end_tree(group: int, reap: Callable[[], bool], limit: float) -> list[int]:
    """Kill all processes beneath this one until `reap` says that there are none; return those that stayed in spite of
    it for `limit` seconds."""
    until = time.monotonic() + limit
    pauses = Backoff(first=0.001, longest=PAUSE_S).pauses()
    if not IS_LINUX:
        _signal(os.killpg, group, signal.SIGKILL)
    while not reap():
        signal_tree(group, signal.SIGKILL)
        if time.monotonic() > until:
            return descendants()
        time.sleep(next(pauses))  # cut short by nothing: what was killed is gone within a moment
    return []
