"""Ticking: a display with a clock is redrawn every second while other work runs."""

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager, suppress
from typing import Final

EVERY_SECONDS: Final = 1.0


@asynccontextmanager
async def ticking(draw: Callable[[], None], is_shown: bool = True) -> AsyncGenerator[None]:
    """Draw at once and again every second while the block runs, if `is_shown` is set."""

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
