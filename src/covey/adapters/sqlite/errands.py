"""Errands: a thread that does what waits, one thing after the other, so that an event loop need not."""

import asyncio
from collections.abc import Callable
from functools import partial
from typing import NamedTuple

from covey.threads import WorkerThread

Loop = asyncio.AbstractEventLoop


class Errand(NamedTuple):
    do: Callable[[], None]
    loop: Loop
    then: Callable[[BaseException | None], None]
    """Called on the loop, with what `do` raised."""
    otherwise: Callable[[], None]
    """Called on the thread, where the loop has been closed meanwhile and nobody is left to tell."""


class Errands:
    def __init__(self, name: str) -> None:
        self._thread = WorkerThread(name)

    def run(self, errand: Errand) -> None:
        self._thread.run(partial(_do, errand))

    def end(self) -> None:
        """Let the thread end when it has done what was asked for."""
        self._thread.end()


def _do(errand: Errand) -> None:
    error: BaseException | None = None
    try:
        errand.do()
    except BaseException as raised:  # noqa: BLE001 - it is told to who asked, and the thread must live on
        error = raised
    try:
        errand.loop.call_soon_threadsafe(errand.then, error)
    except RuntimeError:
        if not errand.loop.is_closed():
            raise
        errand.otherwise()
