"""The narrow store: a space as the holder of an agent's token may see and change it, through any service.

Reads go through `ScopedView`, which hides other agents' mail. So do the lookups of ids that a caller names before a
change (`Transaction.visible`): another agent's record is as unknown as an id that never existed. Every change is
journalled with its actor, so that a change in another agent's name is detected by its event, and rolled back. The rules
for the holder's own actions belong to the services, and are in covey.core.authority like all others.
"""

from collections.abc import Sequence
from typing import TypeVar

from covey.core.authority import check_as
from covey.core.errors import BeyondToken
from covey.core.identity import THE_SPACE, Identity
from covey.core.ids import Topic
from covey.core.ledger.event import Event
from covey.core.ledger.waits import Awaited, Wait
from covey.core.names import AgentName
from covey.ports.channels import Bindings, Posts
from covey.ports.directory import Agents, Sessions, Settings, Tokens
from covey.ports.ledger import Deliveries, EventFilter, Inboxes, Journal, Messages, Offers, Tickets
from covey.ports.pruning import Pruned, RetentionQueries
from covey.ports.store import Capabilities, Operation, Store, Transaction
from covey.ports.storms import Flows, Trees
from covey.ports.work import Runs, Tasks, Waits
from covey.services.scoped.ledger import ScopedDeliveries, ScopedInboxes, ScopedJournal, ScopedMessages, ScopedTickets
from covey.services.scoped.work import ScopedRuns, ScopedTasks

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


class _Around:
    """A transaction that wraps another one; collections that are not restricted are passed through."""

    def __init__(self, tx: Transaction, holder: Identity) -> None:
        self._tx = tx
        self._holder = holder

    @property
    def visible(self) -> Transaction:
        return ScopedView(self._tx, self._holder)

    @property
    def moment(self) -> int:
        return self._tx.moment

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
    def pruned(self) -> Pruned:
        return self._tx.pruned

    def ring(self, topic: Topic) -> None:
        self._tx.ring(topic)


class ScopedView(_Around):
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
        raise BeyondToken(self._holder.agent, "look through offers")

    @property
    def trees(self) -> Trees:
        raise BeyondToken(self._holder.agent, "look through causal trees")

    @property
    def flows(self) -> Flows:
        raise BeyondToken(self._holder.agent, "look through the flows of messages")

    @property
    def waits(self) -> Waits:
        return ScopedWaits(self._tx.waits, self._holder)

    @property
    def posts(self) -> Posts:
        raise BeyondToken(self._holder.agent, "look through posts")

    @property
    def bindings(self) -> Bindings:
        raise BeyondToken(self._holder.agent, "look through bindings")

    @property
    def holdings(self) -> RetentionQueries:
        raise BeyondToken(self._holder.agent, "look through the whole space")


class _InOwnName(_Around):
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
    def holdings(self) -> RetentionQueries:
        return self._tx.holdings

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
        raise BeyondToken(self._holder.agent, "change what it only looks at")

    async def remove(self, asker: AgentName, what: Awaited) -> None:
        raise BeyondToken(self._holder.agent, "change what it only looks at")

    async def of(self, asker: AgentName) -> Sequence[Wait]:
        check_as(self._holder, asker, "look through the waits of")
        return await self._waits.of(asker)

    async def all(self) -> Sequence[Wait]:
        raise BeyondToken(self._holder.agent, "look through waits")


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
