"""Wake-ups within one process, in memory."""

import asyncio
from collections.abc import AsyncGenerator, Collection
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from threading import Lock, get_ident

from covey.core.ids import Topic
from covey.ports.wakeups import Bell


class MemoryBell:
    """A bell of the event loop on which it was made. Any thread may ring it."""

    def __init__(self) -> None:
        self._rang = asyncio.Event()
        self._loop = asyncio.get_running_loop()
        self._thread = get_ident()

    def ring(self) -> None:
        if get_ident() == self._thread:
            self._rang.set()
        elif not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._rang.set)

    async def wait(self, timeout: float) -> bool:
        if not self._rang.is_set():
            try:
                async with asyncio.timeout(timeout):
                    await self._rang.wait()
            except TimeoutError:
                return False
        self._rang.clear()
        return True


class MemoryWakeups:
    def __init__(self) -> None:
        self._lock = Lock()
        self._bells: dict[Topic, set[MemoryBell]] = {}

    def ring(self, topics: Collection[Topic]) -> None:
        with self._lock:
            bells = {bell for topic in topics for bell in self._bells.get(topic, ())}
        for bell in bells:
            bell.ring()

    def listen(self, topics: Collection[Topic]) -> AbstractAsyncContextManager[Bell]:
        return self._listen(frozenset(topics))

    async def close(self) -> None:
        with self._lock:
            self._bells.clear()

    @asynccontextmanager
    async def _listen(self, topics: Collection[Topic]) -> AsyncGenerator[Bell]:
        bell = MemoryBell()
        with self._lock:
            for topic in topics:
                self._bells.setdefault(topic, set()).add(bell)
        try:
            yield bell
        finally:
            self._forget(bell, topics)

    def _forget(self, bell: MemoryBell, topics: Collection[Topic]) -> None:
        with self._lock:
            for topic in topics:
                listeners = self._bells.get(topic, set())
                listeners.discard(bell)
                if not listeners:
                    self._bells.pop(topic, None)
