"""The client side of the fork server: started once, and given a connection for each run."""

import asyncio
import os
import socket
import subprocess
import sys
from contextlib import suppress
from typing import Final

from covey.core.errors import LauncherUnavailable
from covey.ports.launcher import RUN_VARIABLE

_ROOT: Final = os.path.abspath(os.path.join(os.path.dirname(__file__), "../../.."))
_BOOT: Final = (
    "import sys; sys.path.append(sys.argv.pop()); from covey.adapters.process.guard.house import main; main()"
)
"""Isolated and without `site`, which halves the start time; so the path of Covey is an argument."""

_LEAVE_S: Final = 10.0
"""Time limit of the fork server's exit; its guardians have ended by then."""


class ForkServer:
    """The process that forks guardians. It ends with `close`, or with this process."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._control, theirs = socket.socketpair()
        self._control.setblocking(False)
        self._turn = asyncio.Lock()
        self._room: asyncio.Future[None] | None = None
        self._left: asyncio.Future[None] = self._loop.create_future()
        # The fork server must not carry the mark of a run that this process is part of: a sweep of that run kills this
        # process, and the fork server then has to end the programs that this process started.
        env = {name: value for name, value in os.environ.items() if name != RUN_VARIABLE}
        try:
            with theirs:
                self._process = subprocess.Popen(
                    [sys.executable, "-ISc", _BOOT, str(theirs.fileno()), str(os.getpid()), _ROOT],
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.DEVNULL,
                    stderr=subprocess.DEVNULL,
                    cwd="/",
                    env=env,
                    pass_fds=[theirs.fileno()],
                    start_new_session=True,  # a terminal's signals are for the owner, which decides
                )
        except OSError as error:
            self._control.close()
            raise LauncherUnavailable(os.strerror(error.errno or 0)) from None
        self._loop.add_reader(self._control.fileno(), self._notice)

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def has_left(self) -> bool:
        """True if the fork server has ended."""
        return self._left.done()

    async def hand_in(self, connection: socket.socket) -> bool:
        """Pass a guardian its end of a connection; tell whether the fork server took it."""
        async with self._turn:
            while True:
                try:
                    socket.send_fds(self._control, [b"R"], [connection.fileno()])
                except BlockingIOError:
                    await self._writable()
                except OSError:  # the fork server was killed
                    return False
                else:
                    return True

    async def _writable(self) -> None:
        """Wait until the socket has room, or the fork server is gone."""
        self._room = self._loop.create_future()
        self._loop.add_writer(self._control.fileno(), self._make_room)
        try:
            await self._room
        finally:
            if self._control.fileno() >= 0:
                self._loop.remove_writer(self._control.fileno())

    def _make_room(self) -> None:
        if self._room is not None and not self._room.done():
            self._room.set_result(None)

    def _notice(self) -> None:
        """Handle the end of the fork server, which never writes: a readable socket means that it is gone."""
        self._loop.remove_reader(self._control.fileno())
        self._loop.remove_writer(self._control.fileno())
        self._control.close()
        self._make_room()
        self._reap()

    def _reap(self) -> None:
        # The kernel closes the descriptors of a process shortly before it can be reaped.
        if self._process.poll() is None:
            self._loop.call_later(0.001, self._reap)
        elif not self._left.done():
            self._left.set_result(None)

    async def close(self) -> None:
        """Ask the fork server to exit, and wait until it is gone."""
        if self._control.fileno() >= 0:
            with suppress(OSError):  # the fork server was killed just now
                self._control.shutdown(socket.SHUT_WR)
        try:
            async with asyncio.timeout(_LEAVE_S):
                await asyncio.shield(self._left)
        except TimeoutError:
            self._process.kill()
            await asyncio.shield(self._left)
