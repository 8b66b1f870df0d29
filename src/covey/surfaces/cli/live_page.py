"""A live page on a terminal: redrawn after each change and every second, until a key ends it."""

import asyncio
import os
import re
import signal
import sys
import termios
import tty
from collections.abc import Awaitable, Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from enum import Enum, auto
from typing import Final

from covey.core.errors import CoveyError
from covey.core.ledger.event import Event
from covey.ports.ledger import EventFilter
from covey.services.space import Services
from covey.surfaces.cli.live import follow, ticking
from covey.surfaces.cli.terminal.output import Output
from covey.surfaces.cli.terminal.screen import Canvas


class Key(Enum):
    """The keys that a live page understands."""

    UP = auto()
    DOWN = auto()
    OPEN = auto()
    BACK = auto()
    QUIT = auto()


_KEYS: Final[Mapping[bytes, Key]] = {
    **dict.fromkeys((b"\x1b[A", b"\x1bOA", b"k"), Key.UP),
    **dict.fromkeys((b"\x1b[B", b"\x1bOB", b"j"), Key.DOWN),
    **dict.fromkeys((b"\r", b"\n"), Key.OPEN),
    **dict.fromkeys((b"\x1b", b"\x7f", b"\x08"), Key.BACK),
    **dict.fromkeys((b"q", b"Q"), Key.QUIT),
}
_PRESS: Final = re.compile(rb"\x1b[\[O][0-9;]*[A-Za-z~]|[\x00-\xff]")
_UNFINISHED: Final = re.compile(rb"\x1b(?:[\[O][0-9;]*)?\Z")
ESCAPE_SECONDS: Final = 0.05
"""Time in which the rest of a key's sequence arrives. After it, an escape character is the key Esc."""


def keys_in(content: bytes) -> tuple[Sequence[Key], bytes]:
    """Return the known keys of a terminal's input, and the beginning of a sequence that is not complete."""
    unfinished = _UNFINISHED.search(content)
    end = len(content) if unfinished is None else unfinished.start()
    pressed = (_KEYS.get(press) for press in _PRESS.findall(content[:end]))
    return [key for key in pressed if key is not None], content[end:]


@contextmanager
def keys(pressed: Callable[[Key], None]) -> Generator[None]:
    """Call `pressed` for each known key that is pressed while the block runs.

    Keys are not echoed meanwhile, and Ctrl-C still interrupts. If stdin is not a terminal, no keys are read. A terminal
    that is gone counts as the key that ends the page.
    """
    if sys.stdin is None or not sys.stdin.isatty():
        yield
        return
    descriptor = sys.stdin.fileno()
    before = termios.tcgetattr(descriptor)
    loop = asyncio.get_running_loop()
    rest, timer = b"", loop.call_soon(lambda: None)

    def read() -> None:
        nonlocal rest, timer
        timer.cancel()
        try:
            content = os.read(descriptor, 1024)
        except OSError:
            content = b""
        if not content:
            loop.remove_reader(descriptor)
            pressed(Key.QUIT)
        found, rest = keys_in(rest + content)
        for key in found:
            pressed(key)
        if rest:
            timer = loop.call_later(ESCAPE_SECONDS, escape)

    def escape() -> None:
        nonlocal rest
        rest = b""
        pressed(Key.BACK)

    tty.setcbreak(descriptor)
    loop.add_reader(descriptor, read)
    try:
        yield
    finally:
        timer.cancel()
        loop.remove_reader(descriptor)
        termios.tcsetattr(descriptor, termios.TCSADRAIN, before)


MOST_KEYS: Final = 100
"""Maximum number of keys that wait to be handled. Further ones are dropped."""
CALM_SECONDS: Final = 0.1
"""Pause after each redraw. Changes during the pause are shown together."""


async def live_page(
    services: Services,
    output: Output,
    look: Callable[[], Awaitable[None]],
    paint: Callable[[Canvas], None],
    is_change: Callable[[Event], bool],
    seconds: float | None,
    press: Callable[[Key], Awaitable[None]] | None = None,
) -> None:
    """Draw with `paint` the state that `look` has read, again after each change.

    `press` handles the keys, after which the page is drawn again. The page ends with q, with Ctrl-C, or after that many
    seconds.
    """
    this, is_over = asyncio.current_task(), False
    loop = asyncio.get_running_loop()
    waiting: asyncio.Queue[Key] = asyncio.Queue(MOST_KEYS)
    failure: CoveyError | None = None
    turn = asyncio.Lock()  # a key and a change of the space do not read at the same time

    def end() -> None:
        nonlocal is_over
        is_over = True
        if this is not None:
            this.cancel()

    async def show(events: Sequence[Event]) -> bool:
        if any(is_change(event) for event in events):
            async with turn:
                await look()
            draw()
            await asyncio.sleep(CALM_SECONDS)
        return True

    def pressed(key: Key) -> None:
        if key is Key.QUIT:
            end()
        elif press is not None and not waiting.full():
            waiting.put_nowait(key)

    async def handle(press: Callable[[Key], Awaitable[None]]) -> None:
        nonlocal failure
        try:
            while True:
                key = await waiting.get()
                async with turn:
                    await press(key)
                if waiting.empty():  # keys that were pressed together are drawn once
                    draw()
        except CoveyError as error:
            failure = error
            end()

    after = await services.history.last()  # read before the look, so that no change between the two is missed
    await look()
    with output.canvas() as canvas, keys(pressed):

        def draw() -> None:
            paint(canvas)

        loop.add_signal_handler(signal.SIGWINCH, draw)
        loop.add_signal_handler(signal.SIGTERM, end)
        handler = None if press is None else asyncio.create_task(handle(press))
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
            if handler is not None:
                handler.cancel()
                await asyncio.wait([handler])
    if failure is not None:
        raise failure
