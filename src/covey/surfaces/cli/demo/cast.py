"""The cast: players as processes that are started, cued, killed and, whatever happens, gone at the end."""

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
"""How long players may take to leave, where something went wrong, before they are killed."""


class Cast:
    """Use it as `async with Cast(…) as cast`."""

    def __init__(self, url: str, pace: float, complaints: IO[bytes]) -> None:
        self._url = url
        self._pace = pace
        self._complaints = complaints
        """What players say on stderr."""
        self._processes: list[Process] = []
        self._playing: dict[str, Process] = {}
        """Those that nobody has asked to end."""
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
        """Start a player; return the id of its process. Ctrl-C does not reach it: it is ours to let it go."""
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
        """How many processes have played."""
        return len(self._processes)

    async def watch(self, role: str) -> None:
        """Wait for the end of a player; Unavailable where nobody asked for it."""
        process = self._playing[role]
        await process.wait()
        if self._playing.get(role) is process:
            raise self._failed(role, process)

    def cue(self, role: str, line: str) -> None:
        """Tell a player what comes next."""
        stdin = self._playing[role].stdin
        assert stdin is not None
        stdin.write(f"{line}\n".encode())

    async def kill(self, role: str) -> int:
        """Kill a player where it stands, with SIGKILL; return the id of the process that was."""
        process = self._playing.pop(role)
        process.kill()
        self.killed += 1
        await process.wait()
        return process.pid

    async def dismiss(self) -> None:
        """Let all players leave, and wait until they have; Unavailable where one can't."""
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
    """Close what a player listens to: it leaves then."""
    assert process.stdin is not None
    process.stdin.close()


def _environment() -> dict[str, str]:
    """Return an environment in which a player finds this very Covey, wherever it was imported from."""
    here = str(Path(__file__).resolve().parents[4])
    known = os.environ.get("PYTHONPATH")
    return {**os.environ, "PYTHONPATH": os.pathsep.join((here, known)) if known else here}
