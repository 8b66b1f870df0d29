"""The process launcher: each run has a guardian of its own on this machine.

The fork server, which forks the guardians, is started with the first program. An order tells a guardian what to run.
"""

import asyncio
import math
import os
import socket
import subprocess
import sys
from collections.abc import Sequence
from contextlib import suppress
from typing import Final

from covey.adapters.process import run
from covey.adapters.process.guard import folder as files
from covey.adapters.process.guard.protocol import ExecCall, Order
from covey.adapters.process.run import ProcessRunning
from covey.adapters.process.sweep import sweep
from covey.core.errors import Invalid, LauncherUnavailable
from covey.ports.launcher import RUN_VARIABLE, Program, ProgramEnd, StartedProgram

_ROOT: Final = os.path.abspath(os.path.join(os.path.dirname(__file__), "../../.."))
_BOOT: Final = (
    "import sys; sys.path.append(sys.argv.pop()); from covey.adapters.process.guard.fork_server import main; main()"
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


_LONGEST_RUN: Final = 1000


def order_of(program: Program) -> Order:
    """Return the guardian's order for a program; raise Invalid for an unusable value."""
    _check_numbers(program)
    return Order(
        folder=absolute(program.folder),
        run=check_run(program.run),
        output_limit=program.output_limit,
        time_limit=program.time_limit,
        grace=program.grace,
        has_input=program.stdin is not None,
    )


def call_of(program: Program) -> ExecCall:
    """Return the arguments of the program's `exec`; raise Invalid for an unusable value."""
    if not program.argv or not program.argv[0]:
        raise Invalid("argv", program.argv, "name a command")
    env = {**program.env, RUN_VARIABLE: check_run(program.run)}
    for name in env:
        if not name or "=" in name:
            raise Invalid("env", name, "a variable's name is not empty and has no =")
    return ExecCall(
        cwd=_encoded("cwd", [os.path.abspath(program.cwd)])[0],
        argv=tuple(_encoded("argv", program.argv)),
        env=dict(zip(_encoded("env", [*env]), _encoded("env", [*env.values()]), strict=True)),
    )


def check_run(run: str) -> str:
    """Return the run's id if it is one printable word: processes are searched for it in their environments."""
    if not run or len(run) > _LONGEST_RUN or not run.isascii() or not run.isprintable() or " " in run:
        raise Invalid("run", run, f"use printable ASCII without spaces, at most {_LONGEST_RUN} characters")
    return run


def absolute(folder: str) -> str:
    """Return the folder's absolute path, which is the same for every process."""
    _encoded("folder", [folder])
    return os.path.abspath(folder)


def _check_numbers(program: Program) -> None:
    if program.output_limit < 0:
        raise Invalid("output_limit", program.output_limit, "it is 0 or more")
    if program.time_limit is not None and not (0 < program.time_limit < math.inf):
        raise Invalid("time_limit", program.time_limit, "it is more than 0, or None")
    if not (0 <= program.grace < math.inf):
        raise Invalid("grace", program.grace, "it is 0 or more")


def _encoded(what: str, texts: Sequence[str]) -> list[bytes]:
    encoded: list[bytes] = []
    for text in texts:
        if "\0" in text:
            raise Invalid(what, text, "an argument or variable can't contain a zero byte")
        try:
            encoded.append(os.fsencode(text))
        except UnicodeEncodeError:
            raise Invalid(what, text, "it can't be written in this system's encoding") from None
    return encoded


_TRIES: Final = 3


class ProcessLauncher:
    """`Launcher` that starts a fork server with the first program, and a new one if that was killed."""

    def __init__(self) -> None:
        self._fork_server: ForkServer | None = None
        self._running: set[ProcessRunning] = set()
        self._is_closed = False

    async def start(self, program: Program) -> StartedProgram:
        order, call = order_of(program), call_of(program)
        for _ in range(_TRIES):
            if self._is_closed:
                raise LauncherUnavailable("the launcher is closed")
            running = ProcessRunning(program, order, call)
            if await self._hand_in(running) and await running.begin():
                return await self._admit(running)
        raise LauncherUnavailable("the fork server was killed repeatedly")

    async def _hand_in(self, running: ProcessRunning) -> bool:
        """Hand a run to the fork server, and tell whether it took the run."""
        if self._fork_server is None or self._fork_server.has_left:
            self._fork_server = ForkServer()
        ours, theirs = socket.socketpair()
        with theirs:
            is_taken = False
            try:
                is_taken = await self._fork_server.hand_in(theirs)
            finally:
                if not is_taken:
                    ours.close()
        if is_taken:
            # Only now, in parallel with the start of the guardian.
            await asyncio.get_running_loop().create_connection(lambda: running, sock=ours)
        else:
            await self._fork_server.close()
        return is_taken

    async def _admit(self, running: ProcessRunning) -> StartedProgram:
        """Register a run, so that `close` ends it."""
        if self._is_closed:
            await running.kill()
            raise LauncherUnavailable("the launcher was closed")
        self._running.add(running)
        running.over.add_done_callback(lambda _: self._running.discard(running))
        return running

    def recall(self, folder: str) -> ProgramEnd | None:
        place = absolute(folder)
        outcome = files.recorded(place)
        return None if outcome is None else run.result_of(outcome, place)

    async def sweep(self, run: str, folder: str) -> int:
        return await sweep(check_run(run), absolute(folder))

    async def close(self) -> None:
        self._is_closed = True
        await asyncio.gather(*(running.kill() for running in self._running))
        if self._fork_server is not None:
            await self._fork_server.close()
