"""One player in a process of its own: `python -m covey.surfaces.cli.demo.player ROLE URL PACE [slow]`.

Cues come on standard input. At its end the show is over: a player never outlives the process that started it.
"""

import asyncio
import sys
from collections.abc import AsyncIterator

from covey.surfaces.cli.demo.parts import PARTS, Turns
from covey.surfaces.cli.demo.script import CAST
from covey.surfaces.python import space as spaces
from covey.surfaces.python.member import Member


async def play(role: str, url: str, pace: float, is_slow: bool) -> None:
    """Join, play the part until the show is over, and leave."""
    reader = await _stdin()
    cues: asyncio.Queue[str] = asyncio.Queue(1)  # the next cue comes when an act is over
    async with spaces.open(url) as space, asyncio.TaskGroup() as group:
        me = await space.join(role, card={"description": CAST[role]})
        playing = group.create_task(_play(role, me, pace, cues, is_slow))
        while line := await reader.readline():
            await cues.put(line.decode().strip())
        playing.cancel()


async def _play(role: str, me: Member, pace: float, cues: asyncio.Queue[str], is_slow: bool) -> None:
    await PARTS[role](Turns(me, pace), _each(cues), is_slow)


async def _each(cues: asyncio.Queue[str]) -> AsyncIterator[str]:
    while True:
        yield await cues.get()


async def _stdin() -> asyncio.StreamReader:
    reader = asyncio.StreamReader()
    await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    return reader


def main(role: str, url: str, pace: str, *rest: str) -> None:
    asyncio.run(play(role, url, float(pace), "slow" in rest))


if __name__ == "__main__":
    main(*sys.argv[1:])
