"""The progress of a running program, forwarded at most once a second."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import suppress
from typing import Final

from covey.core.errors import CoveyError
from covey.ports.launcher import Line
from covey.runtime.programs.prompt import PROGRESS_MARK

INTERVAL_S: Final = 1.0
LONGEST: Final = 1000


async def report(lines: AsyncIterator[Line], tell: Callable[[str], Awaitable[None]]) -> None:
    """Forward each line that is marked as progress; if lines arrive faster than once a second, only the latest."""
    news = asyncio.Event()
    latest = ""

    async def hand_on() -> None:
        while True:
            await news.wait()
            news.clear()
            with suppress(CoveyError):  # progress is not worth failing the task; the end of a task is noticed elsewhere
                await tell(latest)
            await asyncio.sleep(INTERVAL_S)

    async with asyncio.TaskGroup() as group:
        handing_on = group.create_task(hand_on())
        async for line in lines:
            if line.text.startswith(PROGRESS_MARK) and (text := line.text.removeprefix(PROGRESS_MARK).strip()):
                latest = text[:LONGEST]
                news.set()
        handing_on.cancel()
