"""Adapters for all ports, ready for `Services`."""

from typing import NamedTuple

from covey.core.names import AgentName
from covey.ports.blobs import Blobs
from covey.ports.clock import Clock, Ids
from covey.ports.files import Files
from covey.ports.presence import Liveness
from covey.ports.search import Search
from covey.ports.store import Store
from covey.ports.wakeups import Wakeups
from covey.ports.wire import Wire


class Adapters(NamedTuple):
    """`Ports` that are all there."""

    store: Store
    wakeups: Wakeups
    blobs: Blobs
    search: Search
    liveness: Liveness
    files: Files
    clock: Clock
    ids: Ids
    wire: Wire | None = None
    author: AgentName | None = None

    async def close(self) -> None:
        await self.wakeups.close()
        await self.search.close()
        await self.store.close()
        self.liveness.close()
