"""Ticking: what shows a clock is drawn again every second, while something else goes on."""

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager, suppress
from typing import Final

EVERY_SECONDS: Final = 1.0


@asynccontextmanager
async def ticking(draw: Callable[[], None], is_shown: bool = True) -> AsyncGenerator[None]:
    """Draw at once and again every second while the block runs, where somebody looks."""

    async def tick() -> None:
        while is_shown:
            draw()
            await asyncio.sleep(EVERY_SECONDS)

    ticker = asyncio.create_task(tick())
    try:
        yield
    finally:
        ticker.cancel()
        with suppress(asyncio.CancelledError):
            await ticker
