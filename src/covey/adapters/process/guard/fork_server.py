"""The fork server: a small process, one for each owner, that forks a guardian for each run.

Starting Python for each run would take tens of milliseconds; a fork takes one. Even the fork happens ahead of time: one
guardian always waits for the owner's next run. If a guardian is killed, the orphans of its run become children of the
fork server, which kills them.
"""

import gc
import os
import select
import signal
import socket
import sys
from typing import Final, NoReturn

from covey.adapters.process.guard.child import PROCESS, StartRefused
from covey.adapters.process.guard.guardian import refuse, stand_by
from covey.adapters.process.guard.tree import SignalPipe, adopt_orphans, children
from covey.core.backoff import Backoff

_PAUSES_MS: Final = Backoff(first=2.0, longest=1000.0)
"""Milliseconds between checks for orphans."""
"""The pauses between checks for orphans that were killed. A process that outlives all of them can't be killed."""

_NO_RUN: Final = 3
"""The exit code of a guardian that got no run because the owner has left."""


class ForkServerProcess:
    """The main loop of the fork server. It forks guardians while its owner lives, and stays until the last of them has
    ended."""

    def __init__(self, control: socket.socket, owner: int, waking: SignalPipe) -> None:
        self._control: socket.socket | None = control
        self._owner = owner
        self._waking = waking
        self._taken, self._take = os.pipe()
        self._next = 0
        self._problem = 0
        self._guardians: set[int] = set()
        self._has_orphans = False
        self._looks = 0
        """Checks in a row that found orphans."""

    @property
    def _pause(self) -> float:
        return _PAUSES_MS.after(self._looks + 1)

    def keep(self) -> None:
        """Serve the owner and reap the children until both are gone."""
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
        """Fork a guardian that waits for the owner's next run."""
        server = os.getpid()
        try:
            pid = os.fork()
        except OSError as error:
            self._problem = error.errno or 0
            return
        if not pid:
            self._become_guardian(server)
        self._guardians.add(pid)
        self._next = pid

    def _become_guardian(self, server: int) -> NoReturn:
        status = 1
        try:
            os.close(self._taken)
            self._waking.leave()
            if self._control is not None:
                status = 0 if stand_by(server, self._control, self._take, self._owner) else _NO_RUN
        finally:
            os._exit(status)

    def _refuse(self, control: socket.socket) -> None:
        """Refuse a run, because no guardian could be forked."""
        word, descriptors, _, _ = socket.recv_fds(control, 1, 1)
        if not word:
            self._close()
        for descriptor in descriptors:
            with socket.socket(fileno=descriptor) as connection:
                refuse(connection, StartRefused(PROCESS, self._problem))

    def _close(self) -> None:
        """Stop forking guardians."""
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
        """Kill the orphans of guardians that were killed."""
        if not self._has_orphans:
            self._looks = 0
            return
        orphans = [pid for pid in children() if pid not in self._guardians]
        self._has_orphans = bool(orphans)
        self._looks += 1
        for pid in orphans:
            try:
                os.kill(pid, signal.SIGKILL)
            except PermissionError:  # the process belongs to another user
                continue


def main() -> None:
    """Run the fork server. Arguments: the control socket's descriptor, and the owner's process id."""
    control = socket.socket(fileno=int(sys.argv[1]))
    control.set_inheritable(False)
    owner = int(sys.argv[2])
    watch = _watch(owner)
    if os.getppid() != owner:
        return
    adopt_orphans()
    # A garbage collection would touch, and so copy, the memory that a new guardian shares with this process. Nothing
    # here creates cycles that would have to be collected.
    gc.disable()
    with SignalPipe(signal.SIGCHLD) as waking:
        ForkServerProcess(control, watch, waking).keep()


def _watch(pid: int) -> int:
    """Return a descriptor that becomes readable when the process ends, or -1 if the system has none.

    The control socket shows the end of the owner too, unless a fork of the owner holds the other end open.
    """
    if sys.platform != "linux":
        return -1
    try:
        return os.pidfd_open(pid)
    except OSError:
        return -1
