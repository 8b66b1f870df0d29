"""The cast: players as processes that are started, cued and killed. All of them have ended when the cast closes."""

import asyncio
import os
import sys
from asyncio.subprocess import DEVNULL, PIPE, Process
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import IO, Final, Self

from covey.core.errors import Unavailable

EXIT_SECONDS: Final = 3.0
"""Time that players get to leave after an error, before they are killed."""


class Cast:
    """Player processes. Use it as `async with Cast(…) as cast`."""

    def __init__(self, url: str, pace: float, complaints: IO[bytes]) -> None:
        self._url = url
        self._pace = pace
        self._complaints = complaints
        """The file that collects the stderr of the players."""
        self._processes: list[Process] = []
        self._playing: dict[str, Process] = {}
        """Players that were not asked to end."""
        self.killed = 0

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for process in self._processes:
            _let_go(process)
        try:
            with suppress(TimeoutError):
                async with asyncio.timeout(EXIT_SECONDS):
                    await self._gone()
        finally:
            for process in self._processes:
                if process.returncode is None:
                    process.kill()
        await self._gone()

    async def start(self, role: str, *, is_slow: bool = False) -> int:
        """Start a player and return its process id. Ctrl-C does not reach a player: the cast ends it."""
        words = [role, self._url, str(self._pace), *(["slow"] if is_slow else [])]
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-P", "-m", "covey.surfaces.cli.demo.player", *words),
            stdin=PIPE,
            stdout=DEVNULL,
            stderr=self._complaints,
            env=_environment(),
            start_new_session=True,
        )
        self._processes.append(process)
        self._playing[role] = process
        return process.pid

    @property
    def started(self) -> int:
        """The number of processes started so far."""
        return len(self._processes)

    async def watch(self, role: str) -> None:
        """Wait until a player ends. Raise Unavailable if the cast did not ask it to."""
        process = self._playing[role]
        await process.wait()
        if self._playing.get(role) is process:
            raise self._failed(role, process)

    def cue(self, role: str, line: str) -> None:
        """Send a player its next cue."""
        stdin = self._playing[role].stdin
        assert stdin is not None
        stdin.write(f"{line}\n".encode())

    async def kill(self, role: str) -> int:
        """Kill a player with SIGKILL and return the id of its process."""
        process = self._playing.pop(role)
        process.kill()
        self.killed += 1
        await process.wait()
        return process.pid

    async def dismiss(self) -> None:
        """Let all players leave, and wait until they have. Raise Unavailable if one fails."""
        leaving, self._playing = self._playing, {}
        for process in leaving.values():
            _let_go(process)
        for role, process in leaving.items():
            if await process.wait() != 0:
                raise self._failed(role, process)

    async def _gone(self) -> None:
        for process in self._processes:
            await process.wait()

    def _failed(self, role: str, process: Process) -> Unavailable:
        self._complaints.seek(0)
        last = self._complaints.read().decode(errors="replace").strip().rpartition("\n")[2]
        what = f"the player {role} ended with {process.returncode}: {last or 'it said nothing'}"
        return Unavailable(what, player=role)


def _let_go(process: Process) -> None:
    """Close the stdin of a player, which makes it leave."""
    assert process.stdin is not None
    process.stdin.close()


def _environment() -> dict[str, str]:
    """Return an environment in which a player imports this same copy of Covey."""
    here = str(Path(__file__).resolve().parents[4])
    known = os.environ.get("PYTHONPATH")
    return {**os.environ, "PYTHONPATH": os.pathsep.join((here, known)) if known else here}
