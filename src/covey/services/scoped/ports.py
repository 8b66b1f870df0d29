"""The ports of a space as the holder of an agent's token gets them: a store and a search that show and change only what
the agent may see and change, through any service."""

from collections.abc import Sequence
from typing import TypeVar

from covey.core.authority import check_as
from covey.core.errors import BeyondToken
from covey.core.identity import THE_SPACE, Identity
from covey.core.late import late
from covey.core.ledger.event import Event
from covey.core.ledger.waits import Awaited, Wait
from covey.core.names import AgentName, Topic
from covey.ports.blobs import Blobs, Files
from covey.ports.channels import Bindings, Posts, Wire
from covey.ports.clock import Clock, Ids, Wakeups
from covey.ports.directory import Agents, Liveness, Sessions, Settings, Tokens
from covey.ports.folder import SharedArchive
from covey.ports.ledger import (
    Deliveries,
    EventFilter,
    Inboxes,
    Journal,
    MessageFilter,
    Messages,
    Offers,
    Search,
    SearchHit,
    Tickets,
)
from covey.ports.pruning import PrunedIds, RetentionQueries
from covey.ports.space import Ports
from covey.ports.store import Capabilities, Operation, Store, Transaction
from covey.ports.work import Flows, Runs, Tasks, Trees, Waits
from covey.services.scoped.records import (
    WIDER,
    ScopedDeliveries,
    ScopedInboxes,
    ScopedJournal,
    ScopedMessages,
    ScopedRuns,
    ScopedTasks,
    ScopedTickets,
)

T = TypeVar("T")


class ScopedStore:
    def __init__(self, store: Store, holder: Identity) -> None:
        self._store = store
        self._holder = holder

    @property
    def capabilities(self) -> Capabilities:
        return self._store.capabilities

    async def commit(self, operation: Operation[T], *, is_long: bool = False, is_light: bool = False) -> T:
        async def in_own_name(tx: Transaction) -> T:
            return await operation(_InOwnName(tx, self._holder))

        return await self._store.commit(in_own_name, is_long=is_long, is_light=is_light)

    async def read(self, operation: Operation[T], *, is_long: bool = False) -> T:
        async def narrowed(tx: Transaction) -> T:
            return await operation(ScopedView(tx, self._holder))

        return await self._store.read(narrowed, is_long=is_long)

    async def close(self) -> None:
        await self._store.close()


class _TransactionWrapper:
    """A transaction that wraps another one; collections that are not restricted are passed through."""

    def __init__(self, tx: Transaction, holder: Identity) -> None:
        self._tx = tx
        self._holder = holder

    @property
    def visible(self) -> Transaction:
        return ScopedView(self._tx, self._holder)

    @property
    def directory_version(self) -> int:
        return self._tx.directory_version

    @property
    def agents(self) -> Agents:
        return self._tx.agents

    @property
    def sessions(self) -> Sessions:
        return self._tx.sessions

    @property
    def settings(self) -> Settings:
        return self._tx.settings

    @property
    def tokens(self) -> Tokens:
        return self._tx.tokens

    @property
    def pruned(self) -> PrunedIds:
        return self._tx.pruned

    def ring(self, topic: Topic) -> None:
        self._tx.ring(topic)


class ScopedView(_TransactionWrapper):
    """A snapshot of all records that the holder may see. Names, cards and sessions are visible to everyone."""

    @property
    def messages(self) -> Messages:
        return ScopedMessages(self._tx, self._holder)

    @property
    def deliveries(self) -> Deliveries:
        return ScopedDeliveries(self._tx, self._holder)

    @property
    def inboxes(self) -> Inboxes:
        return ScopedInboxes(self._tx, self._holder)

    @property
    def tickets(self) -> Tickets:
        return ScopedTickets(self._tx, self._holder)

    @property
    def tasks(self) -> Tasks:
        return ScopedTasks(self._tx, self._holder)

    @property
    def runs(self) -> Runs:
        return ScopedRuns(self._tx, self._holder)

    @property
    def journal(self) -> Journal:
        return ScopedJournal(self._tx, self._holder)

    @property
    def offers(self) -> Offers:
        raise BeyondToken(self._holder.agent, "list offers")

    @property
    def trees(self) -> Trees:
        raise BeyondToken(self._holder.agent, "list causal trees")

    @property
    def flows(self) -> Flows:
        raise BeyondToken(self._holder.agent, "list the flows of messages")

    @property
    def waits(self) -> Waits:
        return ScopedWaits(self._tx.waits, self._holder)

    @property
    def posts(self) -> Posts:
        raise BeyondToken(self._holder.agent, "list posts")

    @property
    def bindings(self) -> Bindings:
        raise BeyondToken(self._holder.agent, "list bindings")

    @property
    def retention(self) -> RetentionQueries:
        raise BeyondToken(self._holder.agent, "read the whole space")


class _InOwnName(_TransactionWrapper):
    """A transaction in which only the holder and the space act."""

    @property
    def messages(self) -> Messages:
        return self._tx.messages

    @property
    def deliveries(self) -> Deliveries:
        return self._tx.deliveries

    @property
    def inboxes(self) -> Inboxes:
        return self._tx.inboxes

    @property
    def tickets(self) -> Tickets:
        return self._tx.tickets

    @property
    def offers(self) -> Offers:
        return self._tx.offers

    @property
    def retention(self) -> RetentionQueries:
        return self._tx.retention

    @property
    def trees(self) -> Trees:
        return self._tx.trees

    @property
    def flows(self) -> Flows:
        return self._tx.flows

    @property
    def waits(self) -> Waits:
        return _OwnWaits(self._tx.waits, self._holder)

    @property
    def posts(self) -> Posts:
        return self._tx.posts

    @property
    def bindings(self) -> Bindings:
        return self._tx.bindings

    @property
    def tasks(self) -> Tasks:
        return self._tx.tasks

    @property
    def runs(self) -> Runs:
        return self._tx.runs

    @property
    def journal(self) -> Journal:
        return _OwnEvents(self._tx.journal, self._holder)


class ScopedWaits:
    """The waits of the holder, read only."""

    def __init__(self, waits: Waits, holder: Identity) -> None:
        self._waits = waits
        self._holder = holder

    async def put(self, wait: Wait) -> None:
        raise BeyondToken(self._holder.agent, "change waits in a read")

    async def remove(self, asker: AgentName, what: Awaited) -> None:
        raise BeyondToken(self._holder.agent, "change waits in a read")

    async def of(self, asker: AgentName) -> Sequence[Wait]:
        check_as(self._holder, asker, "list the waits of")
        return await self._waits.of(asker)

    async def all(self) -> Sequence[Wait]:
        raise BeyondToken(self._holder.agent, "list all waits")


class _OwnWaits:
    """The waits of all agents; only the holder's can be written. Waits are not journalled, so that this check is the
    only one."""

    def __init__(self, waits: Waits, holder: Identity) -> None:
        self._waits = waits
        self._holder = holder

    async def put(self, wait: Wait) -> None:
        check_as(self._holder, wait.asker, "wait as")
        await self._waits.put(wait)

    async def remove(self, asker: AgentName, what: Awaited) -> None:
        check_as(self._holder, asker, "wait as")
        await self._waits.remove(asker, what)

    async def of(self, asker: AgentName) -> Sequence[Wait]:
        return await self._waits.of(asker)

    async def all(self) -> Sequence[Wait]:
        return await self._waits.all()


class _OwnEvents:
    def __init__(self, journal: Journal, holder: Identity) -> None:
        self._journal = journal
        self._holder = holder

    async def append(self, event: Event, details: str | None = None) -> None:
        if event.actor != THE_SPACE:
            check_as(self._holder, event.actor.agent, "act as")
        await self._journal.append(event, details)

    async def read(self, after: int, limit: int, wanted: EventFilter | None = None) -> "list[Event]":
        return [*await self._journal.read(after, limit, wanted)]

    async def last(self) -> int:
        return await self._journal.last()


class ScopedSearch:
    """Finds only what the store shows."""

    def __init__(self, search: Search, store: Store) -> None:
        self._search = search
        self._store = store

    async def find(self, words: str, limit: int, wanted: MessageFilter | None = None) -> Sequence[SearchHit]:
        asked = limit
        while True:
            hits = await self._search.find(words, asked, wanted)

            async def operation(tx: Transaction, hits: Sequence[SearchHit] = hits) -> Sequence[SearchHit]:
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
