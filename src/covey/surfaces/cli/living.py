"""A living page on a terminal: drawn when something changes, every second for its clocks, and until a key ends it."""

import asyncio
import signal
from collections.abc import Awaitable, Callable, Sequence
from typing import Final

from covey.core.event import Event
from covey.ports.journal import EventFilter
from covey.services.space import Services
from covey.surfaces.cli.canvas import Canvas
from covey.surfaces.cli.follow import follow
from covey.surfaces.cli.keys import keys
from covey.surfaces.cli.output import Output
from covey.surfaces.cli.ticking import ticking

CALM_SECONDS: Final = 0.1
"""How long it waits after it has looked: what happens meanwhile is shown at once."""


async def live_page(
    services: Services,
    output: Output,
    look: Callable[[], Awaitable[None]],
    paint: Callable[[Canvas], None],
    is_change: Callable[[Event], bool],
    seconds: float | None,
) -> None:
    """Let `paint` draw what `look` has found, again after each change, until q or Ctrl-C is pressed, or so many seconds
    have passed."""
    this, is_over = asyncio.current_task(), False
    loop = asyncio.get_running_loop()

    def end() -> None:
        nonlocal is_over
        is_over = True
        if this is not None:
            this.cancel()

    async def show(events: Sequence[Event]) -> bool:
        if any(is_change(event) for event in events):
            await look()
            draw()
            await asyncio.sleep(CALM_SECONDS)
        return True

    after = await services.history.last()  # before the look, so that no change is between it and what follows
    await look()
    with output.canvas() as canvas, keys("q", end):

        def draw() -> None:
            paint(canvas)

        loop.add_signal_handler(signal.SIGWINCH, draw)
        loop.add_signal_handler(signal.SIGTERM, end)
        try:
            async with ticking(draw):
                await follow(services, after, show, EventFilter(), seconds)
        except asyncio.CancelledError:
            if not is_over or this is None:
                raise
            this.uncancel()
        finally:
            loop.remove_signal_handler(signal.SIGWINCH)
            loop.remove_signal_handler(signal.SIGTERM)
