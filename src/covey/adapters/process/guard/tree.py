"""The process tree of a run: its members, its end, its containment, and its signals.

On Linux no process escapes: an orphan becomes a child of the nearest ancestor that adopts orphans. On other systems,
processes that leave the program's process group are not seen. Signals arrive as bytes on a descriptor, so that one
`poll` covers them with everything else.
"""

import ctypes
import os
import signal
import sys
import time
from collections.abc import Callable
from types import FrameType
from typing import Final, Self

from covey.core.backoff import Backoff

IS_LINUX: Final = sys.platform == "linux"

_SET_PDEATHSIG: Final = 1
_SET_CHILD_SUBREAPER: Final = 36
_libc: Final = ctypes.CDLL(None) if IS_LINUX else None

PAUSE_S: Final = 0.02
"""Longest pause between checks for killed processes."""


def adopt_orphans() -> None:
    """Make this process adopt the orphans among its descendants."""
    if _libc is not None:
        _libc.prctl(_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def die_with(parent: int) -> None:
    """Have the kernel kill this process when its parent dies; exit at once if the parent is already dead."""
    if _libc is not None:
        _libc.prctl(_SET_PDEATHSIG, int(signal.SIGKILL), 0, 0, 0)
        if os.getppid() != parent:
            os._exit(1)


def live_on() -> None:
    """Undo `die_with`."""
    if _libc is not None:
        _libc.prctl(_SET_PDEATHSIG, 0, 0, 0, 0)


def descendants() -> list[int]:
    """Return the descendants of this process. Processes may fork meanwhile, so a caller that needs all of them repeats
    the call."""
    beneath: dict[int, list[int]] = {}
    for name in os.listdir("/proc") if IS_LINUX else ():
        if name.isdecimal():
            beneath.setdefault(_parent(name), []).append(int(name))
    found = [os.getpid()]
    for pid in found:
        found += beneath.get(pid, ())
    return found[1:]


def children() -> list[int]:
    """Return the children of this process."""
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
    return int(stat[stat.rfind(b")") + 1 :].split()[1])  # the name before it may contain any character


def signal_tree(group: int, number: int) -> None:
    """Send a signal to all descendants; on systems other than Linux, to the process group."""
    if not IS_LINUX:
        _signal(os.killpg, group, number)
    for pid in descendants():
        _signal(os.kill, pid, number)


def _signal(send: Callable[[int, int], None], target: int, number: int) -> None:
    try:
        send(target, number)
    except (ProcessLookupError, PermissionError):  # the process is gone, or belongs to another user
        return


def end_tree(group: int, reap: Callable[[], bool], limit: float) -> list[int]:
    """Kill all descendants until `reap` reports that none is left; return those that are left after `limit` seconds."""
    until = time.monotonic() + limit
    pauses = Backoff(first=0.001, longest=PAUSE_S).pauses()
    if not IS_LINUX:
        _signal(os.killpg, group, signal.SIGKILL)
    while not reap():
        signal_tree(group, signal.SIGKILL)
        if time.monotonic() > until:
            return descendants()
        time.sleep(next(pauses))  # not interruptible: killed processes disappear quickly
    return []


_IGNORED: Final = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
"""Ignored signals, which a terminal or a service manager may send to all processes. The guard ends when its owner does,
not before."""


class SignalPipe:
    """A context that receives some signals while it is open."""

    def __init__(self, *signals: signal.Signals) -> None:
        self._signals = signals

    def __enter__(self) -> Self:
        self._read, self._write = os.pipe()
        os.set_blocking(self._read, False)
        os.set_blocking(self._write, False)
        signal.set_wakeup_fd(self._write, warn_on_full_buffer=False)
        for number in _IGNORED:
            signal.signal(number, signal.SIG_IGN)
        for number in self._signals:
            signal.signal(number, _note)
        return self

    def __exit__(self, *_: object) -> None:
        self.leave()

    def leave(self) -> None:
        """Stop receiving signals."""
        signal.set_wakeup_fd(-1)
        os.close(self._read)
        os.close(self._write)

    def fileno(self) -> int:
        return self._read

    def take(self) -> bytes:
        """Return the numbers of the received signals."""
        try:
            return os.read(self._read, 4096)
        except BlockingIOError:
            return b""


def _note(_number: int, _frame: FrameType | None) -> None:
    """Do nothing: Python has already written the number to the descriptor."""
