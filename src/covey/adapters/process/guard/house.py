"""The house of the guardians: a small process, one for each owner, that forks a guardian for each run.

Starting Python for each run would take tens of milliseconds, a fork takes one; and even that is not on the way: one
guardian is forked ahead and waits for the owner's next run. Where a guardian is killed, the orphans of its run come to
the house, and end there.
"""

import gc
import os
import select
import signal
import socket
import sys
from typing import Final, NoReturn

from covey.adapters.process.guard.child import PROCESS, Refusal
from covey.adapters.process.guard.guardian import refuse, stand_by
from covey.adapters.process.guard.tree import adopt_orphans, children
from covey.adapters.process.guard.waking import Waking
from covey.core.backoff import Backoff

_PAUSES_MS: Final = Backoff(first=2.0, longest=1000.0)
"""Milliseconds between looks for orphans."""
"""How long to wait before looking again for orphans that were killed. What is there after all that can't be killed."""

_NO_RUN: Final = 3
"""The exit code of a guardian that the owner left without a run."""


class ForkServerProcess:
    """Forks guardians as long as its owner lives, and stays until the last of them has ended."""

    def __init__(self, control: socket.socket, owner: int, waking: Waking) -> None:
        self._control: socket.socket | None = control
        self._owner = owner
        self._waking = waking
        self._taken, self._take = os.pipe()
        self._next = 0
        self._problem = 0
        self._guardians: set[int] = set()
        self._has_orphans = False
        self._looks = 0
        """How often orphans were looked for in a row, and found."""

    @property
    def _pause(self) -> float:
        return _PAUSES_MS.after(self._looks + 1)

    def keep(self) -> None:
        """Attend to the owner and to the children until both are gone."""
        while self._control is not None or self._guardians or self._is_ending_orphans():
            if self._control is not None and not self._next:
                self._fork()
            ready = self._ready()
            self._waking.take()
            if self._taken in ready and str(self._next).encode() in os.read(self._taken, 4096).split():
                self._next = 0
            if self._control is not None and self._control.fileno() in ready:
                self._refuse(self._control)
            if self._owner in ready:
                self._close()
            self._reap()
            self._end_orphans()

    def _ready(self) -> set[int]:
        poll = select.poll()
        poll.register(self._waking.fileno(), select.POLLIN)
        poll.register(self._taken, select.POLLIN)
        if self._control is not None and self._owner >= 0:
            poll.register(self._owner, select.POLLIN)
        if self._control is not None and not self._next:
            poll.register(self._control, select.POLLIN)
        return {descriptor for descriptor, _ in poll.poll(self._pause if self._has_orphans else None)}

    def _is_ending_orphans(self) -> bool:
        return self._has_orphans and self._pause < _PAUSES_MS.longest

    def _fork(self) -> None:
        """Have a guardian wait for the owner's next run."""
        house = os.getpid()
        try:
            pid = os.fork()
        except OSError as error:
            self._problem = error.errno or 0
            return
        if not pid:
            self._become_guardian(house)
        self._guardians.add(pid)
        self._next = pid

    def _become_guardian(self, house: int) -> NoReturn:
        status = 1
        try:
            os.close(self._taken)
            self._waking.leave()
            if self._control is not None:
                status = 0 if stand_by(house, self._control, self._take, self._owner) else _NO_RUN
        finally:
            os._exit(status)

    def _refuse(self, control: socket.socket) -> None:
        """Turn away a run for which there is no guardian, since none could be forked."""
        word, descriptors, _, _ = socket.recv_fds(control, 1, 1)
        if not word:
            self._close()
        for descriptor in descriptors:
            with socket.socket(fileno=descriptor) as connection:
                refuse(connection, Refusal(PROCESS, self._problem))

    def _close(self) -> None:
        """Fork no more."""
        if self._control is not None:
            self._control.close()
            self._control = None

    def _reap(self) -> None:
        try:
            while (ended := os.waitpid(-1, os.WNOHANG))[0]:
                pid, status = ended
                code = os.waitstatus_to_exitcode(status)
                self._guardians.discard(pid)
                self._next = 0 if pid == self._next else self._next
                self._has_orphans = self._has_orphans or code not in (0, _NO_RUN)
                if code == _NO_RUN:
                    self._close()
        except ChildProcessError:
            self._has_orphans = False

    def _end_orphans(self) -> None:
        """Kill what a guardian has left that was killed itself."""
        if not self._has_orphans:
            self._looks = 0
            return
        orphans = [pid for pid in children() if pid not in self._guardians]
        self._has_orphans = bool(orphans)
        self._looks += 1
        for pid in orphans:
            try:
                os.kill(pid, signal.SIGKILL)
            except PermissionError:  # another user's
                continue


def main() -> None:
    """Keep the house: the control socket and the owner's process id are the arguments."""
    control = socket.socket(fileno=int(sys.argv[1]))
    control.set_inheritable(False)
    owner = int(sys.argv[2])
    watch = _watch(owner)
    if os.getppid() != owner:
        return
    adopt_orphans()
    # A collection would touch, and so copy, all memory that a new guardian shares with the house. Nothing here makes
    # cycles that would have to be collected.
    gc.disable()
    with Waking(signal.SIGCHLD) as waking:
        ForkServerProcess(control, watch, waking).keep()


def _watch(pid: int) -> int:
    """Return a descriptor that is readable once the process has ended, or -1 where there is no such thing. The
    connection says it as well, unless somebody forked the owner and so holds its end open."""
    if sys.platform != "linux":
        return -1
    try:
        return os.pidfd_open(pid)
    except OSError:
        return -1
