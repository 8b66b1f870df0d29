"""Adapters for all ports, ready for `Services`."""

from contextlib import AsyncExitStack
from typing import NamedTuple

from covey.core.names import AgentName
from covey.ports.blobs import Blobs, Files
from covey.ports.channels import Wire
from covey.ports.clock import Clock, Ids, Wakeups
from covey.ports.directory import Liveness
from covey.ports.folder import SharedArchive
from covey.ports.ledger import Search
from covey.ports.store import Store


class Adapters(NamedTuple):
    """`Ports` with an adapter for every port."""

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
    shared_archive: SharedArchive | None = None

    async def close(self) -> None:
        """Close all adapters, even if closing one of them fails or the caller is cancelled meanwhile."""
        async with AsyncExitStack() as steps:  # closes in reverse order
            steps.callback(self.liveness.close)
            steps.push_async_callback(self.store.close)
            steps.push_async_callback(self.search.close)
            steps.push_async_callback(self.wakeups.close)
