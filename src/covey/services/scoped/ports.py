"""The adapters of a space as the holder of an agent's token gets at them: a narrow store and a narrow search."""

from collections.abc import Sequence

from covey.core.identity import Identity
from covey.core.late import late
from covey.core.names import AgentName
from covey.ports.blobs import Blobs, Files
from covey.ports.clock import Clock, Ids
from covey.ports.directory import Liveness
from covey.ports.folder import SharedArchive
from covey.ports.ledger import MessageFilter
from covey.ports.search import Hit, Search
from covey.ports.space import Ports
from covey.ports.store import Store, Transaction
from covey.ports.wakeups import Wakeups
from covey.ports.wire import Wire
from covey.services.scoped.ledger import WIDER
from covey.services.scoped.store import ScopedStore


class ScopedSearch:
    """Finds only what the store shows."""

    def __init__(self, search: Search, store: Store) -> None:
        self._search = search
        self._store = store

    async def find(self, words: str, limit: int, wanted: MessageFilter | None = None) -> Sequence[Hit]:
        asked = limit
        while True:
            hits = await self._search.find(words, asked, wanted)

            async def operation(tx: Transaction, hits: Sequence[Hit] = hits) -> Sequence[Hit]:
                return [hit for hit in hits if await tx.messages.get(hit.message_id) is not None]

            own = await self._store.read(operation, is_long=True)
            if len(own) >= limit or len(hits) < asked:
                return own[:limit]
            asked *= WIDER

    async def forget(self) -> None:
        await self._search.forget()

    async def lag(self) -> int:
        return await self._search.lag()

    async def close(self) -> None:
        await self._search.close()


class ScopedPorts:
    """`Ports`. Each is made when it is first used, as those beneath are."""

    def __init__(self, ports: Ports, holder: Identity) -> None:
        self._ports = ports
        self._holder = holder

    @late
    def store(self) -> Store:
        return ScopedStore(self._ports.store, self._holder)

    @late
    def search(self) -> Search:
        return ScopedSearch(self._ports.search, self.store)

    @property
    def shared_archive(self) -> SharedArchive | None:
        return self._ports.shared_archive

    @property
    def wakeups(self) -> Wakeups:
        return self._ports.wakeups

    @property
    def blobs(self) -> Blobs:
        return self._ports.blobs

    @property
    def liveness(self) -> Liveness:
        return self._ports.liveness

    @property
    def files(self) -> Files:
        return self._ports.files

    @property
    def clock(self) -> Clock:
        return self._ports.clock

    @property
    def ids(self) -> Ids:
        return self._ports.ids

    @property
    def author(self) -> AgentName | None:
        return self._ports.author

    @property
    def wire(self) -> Wire | None:
        return self._ports.wire

    async def close(self) -> None:
        await self._ports.close()
