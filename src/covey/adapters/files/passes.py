"""Passes for programs with an event loop: on a thread of their own, and shared by all who wait for one."""

import asyncio
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from threading import Lock
from typing import Protocol

from covey.core.drive import finish


class Passing(Protocol):
    """What makes passes without ever suspending."""

    async def run(self) -> None: ...


class ThreadedPasses:
    """A pass that has not begun yet serves everybody who asks for one until it does."""

    def __init__(self, passing: Passing, let_go: Callable[[], None]) -> None:
        """`let_go` closes on the same thread what the passes have used."""
        self._passing = passing
        self._let_go = let_go
        self._lock = Lock()
        self._next: Future[None] | None = None
        self._thread = ThreadPoolExecutor(1, "covey files")
        self._is_closed = False

    async def run(self) -> None:
        with self._lock:
            if self._is_closed:
                return
            if self._next is None:
                self._next = self._thread.submit(self._pass)
            waited_for = self._next
        # Whoever gives up does so alone: others may wait for the same pass.
        await asyncio.shield(asyncio.wrap_future(waited_for))

    async def close(self) -> None:
        with self._lock:
            if self._is_closed:
                return
            self._is_closed = True
            last = self._thread.submit(self._let_go)
        self._thread.shutdown(wait=False)
        await asyncio.shield(asyncio.wrap_future(last))

    def _pass(self) -> None:
        with self._lock:
            self._next = None
        finish(self._passing.run())
