"""An owner of runs in a separate process, which can be killed."""

import asyncio
import os
import sys

from covey.adapters.process.launcher import ProcessLauncher
from covey.ports.launcher import Program

PROGRAM = "from tests.adapters.process.owners import main; main()"


async def own(folder: str, run: str, *argv: str) -> None:
    """Start a program. Print its process id, each line of its output and its end, and then wait indefinitely."""
    launcher = ProcessLauncher()
    running = await launcher.start(Program(argv=argv, cwd="/", env=dict(os.environ), folder=folder, run=run))
    print(running.pid, flush=True)
    async for line in running.lines():
        print(line.text, flush=True)
    print("ended", flush=True)
    await asyncio.Event().wait()


def main() -> None:
    asyncio.run(own(*sys.argv[1:]))
