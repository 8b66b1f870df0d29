"""A live page on a terminal: redrawn after each change and every second, until a key ends it."""

import asyncio
import os
import signal
import sys
import termios
import tty
from collections.abc import Awaitable, Callable, Generator, Sequence
from contextlib import contextmanager
from typing import Final

from covey.core.ledger.event import Event
from covey.ports.ledger import EventFilter
from covey.services.space import Services
from covey.surfaces.cli.follow import follow
from covey.surfaces.cli.terminal.canvas import Canvas
from covey.surfaces.cli.terminal.output import Output
from covey.surfaces.cli.terminal.ticking import ticking


@contextmanager
def keys(key: str, pressed: Callable[[], None]) -> Generator[None]:
    """Call `pressed` once, when that key is pressed while the block runs.

    Keys are not echoed meanwhile, and Ctrl-C still interrupts. If stdin is not a terminal, no keys are read.
    """
    if sys.stdin is None or not sys.stdin.isatty():
        yield
        return
    descriptor = sys.stdin.fileno()
    before = termios.tcgetattr(descriptor)
    loop = asyncio.get_running_loop()

    def read() -> None:
        try:
            content = os.read(descriptor, 1024)
        except OSError:
            content = b""
        if not content or key.encode() in content.lower():  # no content means that the terminal is gone
            loop.remove_reader(descriptor)
            pressed()

    tty.setcbreak(descriptor)
    loop.add_reader(descriptor, read)
    try:
        yield
    finally:
        loop.remove_reader(descriptor)
        termios.tcsetattr(descriptor, termios.TCSADRAIN, before)


CALM_SECONDS: Final = 0.1
"""Pause after each redraw. Changes during the pause are shown together."""


async def live_page(
    services: Services,
    output: Output,
    look: Callable[[], Awaitable[None]],
    paint: Callable[[Canvas], None],
    is_change: Callable[[Event], bool],
    seconds: float | None,
) -> None:
    """Draw with `paint` the state that `look` has read, again after each change.

    The page ends with q, with Ctrl-C, or after that many seconds.
    """
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

    after = await services.history.last()  # read before the look, so that no change between the two is missed
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
