"""A space that a test drives by hand: its store, its clock, its imagined machine, without an event loop."""

from collections.abc import AsyncGenerator, Awaitable, Collection
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import TypeVar

from covey.adapters.memory import MemoryBlobs, MemoryLiveness, MemorySearch
from covey.adapters.system.files import RootedFiles
from covey.adapters.system.store_files import StoreFiles
from covey.core.directory.session import Holder
from covey.core.ids import Topic
from covey.ports.store import Store
from covey.ports.wakeups import Bell
from covey.services.adapters import Adapters
from covey.services.space import Services
from covey.testing.fakes import CountingIds, HandClock
from tests.properties.nursery import Nursery

T = TypeVar("T")

PROCESSES = 3
"""How many processes of the imagined machine have the space open at a time."""


class NobodyRings:
    """Wake-ups for a test in which nobody ever waits."""

    def ring(self, topics: Collection[Topic]) -> None: ...

    def listen(self, topics: Collection[Topic]) -> AbstractAsyncContextManager[Bell]:
        return self._silence()

    async def close(self) -> None: ...

    @asynccontextmanager
    async def _silence(self) -> AsyncGenerator[Bell]:
        yield self

    async def wait(self, timeout: float) -> bool:
        return False


class Process:
    """One process that has the space open; it can die."""

    def __init__(self, ports: Adapters, liveness: MemoryLiveness) -> None:
        self.ports = ports._replace(liveness=liveness)
        self.services: Services = Services(self.ports, launching=lambda _: Nursery())
        self._liveness = liveness

    def kill(self) -> None:
        self._liveness.close()


class World:
    """One of the spaces that are compared. Ids and locks count, so that equal stories have equal ids."""

    def __init__(self, store: Store, clock: HandClock) -> None:
        self._machine = MemoryLiveness()
        self.blobs = MemoryBlobs()
        self._ports = Adapters(
            store=store,
            wakeups=NobodyRings(),
            blobs=self.blobs,
            search=MemorySearch(store),
            liveness=self._machine,
            files=RootedFiles((), StoreFiles()),
            clock=clock,
            ids=CountingIds(),
        )
        self.store = store
        self.processes = [self._process() for _ in range(PROCESSES)]

    def kill(self, index: int) -> None:
        """Let a process die, and another begin in its place."""
        self.processes[index].kill()
        self.processes[index] = self._process()

    def start_client(self, pid: int) -> None:
        """Let a client's process run."""
        self._machine.start(pid)

    def kill_client(self, pid: int) -> None:
        """Let a client's process die."""
        self._machine.kill(Holder(pid=pid, started="0"))

    def _process(self) -> Process:
        return Process(self._ports, self._machine.another())


def finish(awaitable: Awaitable[T]) -> T:
    """Run what never has to wait."""
    steps = awaitable.__await__()
    try:
        next(steps)
    except StopIteration as done:
        return done.value
    raise AssertionError("it waits for something; nothing here ever should")
