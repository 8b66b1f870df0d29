"""A simulated machine: processes that a test can end, and wake-ups within one process."""

import asyncio
from collections.abc import AsyncGenerator, Collection, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from itertools import count
from threading import Lock, get_ident

from covey.core.directory.session import Ancestor, Holder
from covey.core.names import Topic
from covey.ports.clock import Bell


class MemoryMachine:
    """The live locks and processes of a simulated machine. A lock's name is never used again, so a dead lock stays
    dead."""

    def __init__(self) -> None:
        self.held: set[Holder] = set()
        self._numbers = count(1)

    def new_lock(self) -> Holder:
        """Return a lock that is held from now on."""
        holder = Holder(lock=f"memory-{next(self._numbers)}")
        self.held.add(holder)
        return holder


class MemoryLiveness:
    """One process of a simulated machine. Without `machine`, it is alone on its own machine."""

    def __init__(self, machine: MemoryMachine | None = None) -> None:
        self._machine = machine or MemoryMachine()
        self._mine: Holder | None = None
        self.descent: Sequence[Ancestor] = ()
        """The ancestors of this process, set by a test."""

    def hold(self) -> Holder:
        if self._mine is None:
            self._mine = self._machine.new_lock()
        return self._mine

    def process(self, pid: int) -> Holder | None:
        return next((holder for holder in self._machine.held if holder.pid == pid), None)

    def ancestors(self) -> Sequence[Ancestor]:
        return [ancestor for ancestor in self.descent if self.is_held(ancestor.holder)]

    def is_held(self, holder: Holder) -> bool:
        return holder in self._machine.held

    def close(self) -> None:
        if self._mine is not None:
            self.kill(self._mine)

    def another(self) -> "MemoryLiveness":
        """Return another process of the same machine."""
        return MemoryLiveness(self._machine)

    def start(self, pid: int, started: str = "0") -> Holder:
        """Start a process. The same id with another start is another process."""
        holder = Holder(pid=pid, started=started)
        self._machine.held.add(holder)
        return holder

    def kill(self, holder: Holder) -> None:
        """End the process or the lock of a holder."""
        self._machine.held.discard(holder)


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
