"""A space under full control of a test: its store, its clock and a simulated machine, without an event loop."""

from collections.abc import AsyncGenerator, Awaitable, Collection
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import TypeVar

from covey.adapters.memory import MemoryBlobs, MemoryLiveness, MemorySearch
from covey.adapters.system.files import RootedFiles, StoreFiles
from covey.core.directory.session import Holder
from covey.core.names import Topic
from covey.engines.adapters import Adapters
from covey.ports.clock import Bell
from covey.ports.store import Store
from covey.services.space import Services
from covey.testing.fakes import CountingIds, HandClock
from tests.properties.nursery import Nursery

T = TypeVar("T")

PROCESSES = 3
"""Number of processes of the simulated machine that have the space open."""


class NobodyRings:
    """Wake-ups for tests in which no call waits."""

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
    """A process that has the space open. It can be killed."""

    def __init__(self, ports: Adapters, liveness: MemoryLiveness) -> None:
        self.ports = ports._replace(liveness=liveness)
        self.services: Services = Services(self.ports, launching=lambda _: Nursery())
        self._liveness = liveness

    def kill(self) -> None:
        self._liveness.close()


class World:
    """One of the compared spaces. Ids and locks are counted, so that equal stories have equal ids."""

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
        """Kill a process and start another in its place."""
        self.processes[index].kill()
        self.processes[index] = self._process()

    def start_client(self, pid: int) -> None:
        """Start a client's process."""
        self._machine.start(pid)

    def kill_client(self, pid: int) -> None:
        """Kill a client's process."""
        self._machine.kill(Holder(pid=pid, started="0"))

    def _process(self) -> Process:
        return Process(self._ports, self._machine.another())


def finish(awaitable: Awaitable[T]) -> T:
    """Run an awaitable that never has to wait."""
    steps = awaitable.__await__()
    try:
        next(steps)
    except StopIteration as done:
        return done.value
    raise AssertionError("it waits for something; nothing here ever should")
