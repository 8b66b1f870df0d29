"""The process launcher: each run has a guardian of its own on this machine."""

import asyncio
import socket
from typing import Final

from covey.adapters.process import checks, endings
from covey.adapters.process.guard import folder as files
from covey.adapters.process.house import ForkServer
from covey.adapters.process.running import ProcessRunning
from covey.adapters.process.sweeping import sweep
from covey.core.errors import LauncherUnavailable
from covey.ports.launcher import Ended, Program, Running

_TRIES: Final = 3


class ProcessLauncher:
    """`Launcher` that starts a fork server with the first program, and a new one if that was killed."""

    def __init__(self) -> None:
        self._house: ForkServer | None = None
        self._running: set[ProcessRunning] = set()
        self._is_closed = False

    async def start(self, program: Program) -> Running:
        order, call = checks.order(program), checks.call(program)
        for _ in range(_TRIES):
            if self._is_closed:
                raise LauncherUnavailable("the launcher is closed")
            running = ProcessRunning(program, order, call)
            if await self._hand_in(running) and await running.begin():
                return await self._admit(running)
        raise LauncherUnavailable("what starts programs was killed again and again")

    async def _hand_in(self, running: ProcessRunning) -> bool:
        """Hand a run to the fork server, and tell whether it took the run."""
        if self._house is None or self._house.has_left:
            self._house = ForkServer()
        ours, theirs = socket.socketpair()
        with theirs:
            is_taken = False
            try:
                is_taken = await self._house.hand_in(theirs)
            finally:
                if not is_taken:
                    ours.close()
        if is_taken:
            # Only now, in parallel with the start of the guardian.
            await asyncio.get_running_loop().create_connection(lambda: running, sock=ours)
        else:
            await self._house.close()
        return is_taken

    async def _admit(self, running: ProcessRunning) -> Running:
        """Register a run, so that `close` ends it."""
        if self._is_closed:
            await running.kill()
            raise LauncherUnavailable("the launcher was closed")
        self._running.add(running)
        running.over.add_done_callback(lambda _: self._running.discard(running))
        return running

    def recall(self, folder: str) -> Ended | None:
        place = checks.absolute(folder)
        outcome = files.recorded(place)
        return None if outcome is None else endings.ended(outcome, place)

    async def sweep(self, run: str, folder: str) -> int:
        return await sweep(checks.check_run(run), checks.absolute(folder))

    async def close(self) -> None:
        self._is_closed = True
        await asyncio.gather(*(running.kill() for running in self._running))
        if self._house is not None:
            await self._house.close()
