"""A world for scenarios: one machine, one space, processes that can be killed, and a clock that is turned by hand.

Every process has its own services over the same space, so that processes learn of each other only through the store.
"""

import asyncio
from collections.abc import Callable, Collection, Coroutine, Sequence
from typing import Literal, NamedTuple, TypeVar

from covey.adapters.memory import MemoryBlobs, MemoryLiveness, MemorySearch, MemoryWakeups
from covey.core.directory.session import Ancestor
from covey.core.identity import Identity
from covey.core.ledger.delivery import DeliveryRecord
from covey.core.ledger.draft import Draft
from covey.core.ledger.event import Action, Event
from covey.core.ledger.message import Kind, TextPart
from covey.core.ledger.offer import Offer
from covey.core.ledger.ticket import Ticket
from covey.core.names import (
    JOURNAL_TOPIC,
    OPERATOR,
    AgentName,
    MessageId,
    OfferId,
    Scope,
    Topic,
    parse_message_id,
    ticket_id,
)
from covey.core.store_url import StoreUrl
from covey.engines.adapters import Adapters
from covey.ports.blobs import LoadedFile
from covey.ports.clock import Wakeups
from covey.ports.ledger import EventFilter
from covey.ports.space import Ports
from covey.ports.store import Store, Survives, Transaction
from covey.runtime.open_space import OpenSpace
from covey.services.attention.offers import Showing
from covey.services.mail.recipients import SendPolicy
from covey.services.space import Services
from covey.surfaces.python.member import Member
from covey.surfaces.python.messages import GradeName
from covey.surfaces.python.space import Space
from covey.testing.fakes import CountingIds, HandClock

T = TypeVar("T")

LIMIT_S = 10.0
"""Time limit for any step of a scenario. The clock of the world stands still meanwhile."""

RECHECK_S = 0.01
"""Interval at which a waiter without a wake-up rechecks."""

MINUTES = 60.0

Ring = Callable[[Collection[Topic]], None]
OpenStore = Callable[[Ring], Store]


class NoFiles:
    """A machine without files."""

    async def load(self, path: str) -> LoadedFile:
        raise FileNotFoundError(path)

    async def load_beneath(self, folder: str, path: str) -> LoadedFile:
        raise FileNotFoundError(folder, path)


class OpenWorld(OpenSpace):
    """A space that is open over the ports of the world."""

    def __init__(self, ports: Ports) -> None:
        super().__init__(StoreUrl("memory", "", {}), ())
        self._ports = ports
        self._services = Services(ports, RECHECK_S, launching=self._supervisor)

    async def end_children(self) -> None:
        """End the children of this process, as leaving the space does."""
        if self._children is not None:
            await self._children.close()


class Process(Space):
    """A program that has the space open."""

    def __init__(self, ports: Ports) -> None:
        super().__init__(StoreUrl("memory", "", {}), ())
        self._open = opened = OpenWorld(ports)
        self.end_children = opened.end_children
        self.store = ports.store


class Snapshot(NamedTuple):
    """Everything that a space has stored at one moment."""

    events: Sequence[Event]
    records: Sequence[object]


class World:
    def __init__(self, open_store: OpenStore, wakeups: Wakeups | None = None) -> None:
        self.clock = HandClock()
        self.wakeups = wakeups or MemoryWakeups()
        self.liveness = MemoryLiveness()
        self._ids = CountingIds()
        self._blobs = MemoryBlobs()
        self._open_store = open_store
        self._stores: list[Store] = []
        self._processes: list[MemoryLiveness] = []
        self._programs: list[Process] = []
        self.observer = self.process()
        """A process that only reads, unless a scenario says otherwise."""

    @property
    def services(self) -> Services:
        return self.observer.services

    def process(self, wrap: Callable[[Store], Store] | None = None) -> Process:
        """Start a process, with `wrap` around its store. It lives until it is killed."""
        store = self._open_store(self.wakeups.ring)
        self._stores.append(store)
        store = wrap(store) if wrap else store
        self._processes.append(self.liveness.another())
        process = Process(
            Adapters(
                store=store,
                wakeups=self.wakeups,
                blobs=self._blobs,
                search=MemorySearch(store),
                liveness=self._processes[-1],
                files=NoFiles(),
                clock=self.clock,
                ids=self._ids,
            )
        )
        self._programs.append(process)
        return process

    def program(self, pid: int, name: str = "client") -> Ancestor:
        """Start a program that can be an ancestor of others."""
        return Ancestor(self.liveness.start(pid), name)

    def process_of(self, *ancestors: Ancestor) -> Process:
        """Start a process that descends from programs; its parent comes first."""
        process = self.process()
        self._processes[-1].descent = ancestors
        return process

    async def join(self, *names: str) -> Sequence[Member]:
        """Let agents join, each in its own process."""
        return [await self.process().join(name) for name in names]

    def kill(self, *members: Member) -> None:
        """Kill the processes of members. Their locks are free from now on, and no other process is notified."""
        for member in members:
            self.liveness.kill(member.session.holder)

    async def restart(self) -> None:
        """Kill every process, and start again with the contents of the store."""
        for process in self._processes:
            process.close()
        if self.observer.store.capabilities.survives is not Survives.NOTHING:
            await self.close()
        self.observer = self.process()

    async def operator(self) -> Identity:
        """Return the identity of the operator, by a token."""
        by = self.services.identities
        return await by.by_token(await by.create_token(OPERATOR, by.claim(AgentName("owner"))))

    def pass_time(self, *, minutes: float = 0.0, seconds: float = 0.0) -> None:
        """Advance the clock. No process notices before it reads the clock."""
        self.clock.advance(minutes * MINUTES + seconds)

    async def tend(self) -> None:
        """Run the upkeep, which records expiries and deaths."""
        await self.services.upkeep.tend()

    # -------------------------------------------------------------------------------------------------- views

    async def deliveries(self, message_id: str) -> Sequence[DeliveryRecord]:
        """Return the copies of a message, by their numbers."""
        return (await self.services.mail.receipt(parse_message_id(message_id))).deliveries

    async def delivery(self, message_id: str) -> DeliveryRecord:
        """Return the only copy of a message."""
        (delivery,) = await self.deliveries(message_id)
        return delivery

    async def ticket(self, message_id: str, debtor: str) -> Ticket:
        """Return the ticket of `debtor` for a request."""
        return await self.services.dialogue.ticket(ticket_id(parse_message_id(message_id), AgentName(debtor)))

    async def is_owed(self, member: Member) -> Ticket:
        """Wait until a member is owed an answer, and return the first ticket."""

        async def look() -> Ticket | None:
            return next(iter(await self.services.dialogue.owed_to(member.name)), None)

        ticket = await soon(self.services.waiting.until([JOURNAL_TOPIC], look, LIMIT_S))
        assert ticket is not None
        return ticket

    async def offer(self, offer_id: OfferId) -> Offer:
        """Return an offer, ended or not."""

        async def operation(tx: Transaction) -> Offer | None:
            return await tx.offers.get(offer_id)

        offer = await self.observer.store.read(operation)
        assert offer is not None
        return offer

    async def position(self) -> int:
        """Return the last position of the journal. An unchanged position means that nothing has happened."""
        return await self.services.history.last()

    async def events(
        self, action: Action | None = None, *, after: int = 0, scope: str | None = None
    ) -> Sequence[Event]:
        """Return the events of the journal, oldest first."""
        wanted = EventFilter(action=action, scope=None if scope is None else Scope(scope))
        return await self.services.history.read(after, 100_000, wanted)

    async def snapshot(self) -> Snapshot:
        """Return everything that the space has stored."""
        return await self.observer.store.read(_everything)

    async def end_children(self) -> None:
        """End the children of all processes. Those that run on an event loop end with the event loop of the test."""
        for process in self._programs:
            await process.end_children()

    async def close(self) -> None:
        while self._stores:
            await self._stores.pop().close()


async def _everything(tx: Transaction) -> Snapshot:
    events = await tx.journal.read(0, 1_000_000)
    records: list[object] = [*await tx.agents.all(), *await tx.sessions.current(), *await tx.tokens.all()]
    for event in events:
        if event.action is Action.MESSAGE_SENT and event.message_id is not None:
            records.append(await tx.messages.get(event.message_id))
            records.extend(await tx.deliveries.of_message(event.message_id))
            records.extend(await tx.tickets.of_message(event.message_id))
        elif event.action is Action.OFFER_MADE:
            records.append(await tx.offers.get(OfferId(str(event.details["offer"]))))
    return Snapshot(tuple(events), records)


async def soon(awaited: Coroutine[object, object, T]) -> T:
    """Return the result of a coroutine, within the time limit of a scenario."""
    async with asyncio.timeout(LIMIT_S):
        return await awaited


async def show(member: Member, turn: str = "turn", presentation: Literal["once", "until_handled"] = "once") -> Showing:
    """Make an offer of a member's pending messages, which must exist."""
    showing = await member.offer(turn, presentation=presentation)
    assert showing is not None, f"nothing waits for {member.name}"
    return showing


async def read(member: Member, grade: GradeName = "witnessed") -> Showing:
    """Let a member's model read its pending messages, with evidence."""
    showing = await show(member)
    await member.confirm(showing.offer.id, grade, "the model's response")
    return showing


def texts(showing: Showing | None) -> Sequence[str]:
    """Return the texts of a showing, in order."""
    return [item.message.text for item in showing.items] if showing is not None else []


async def waiting(member: Member) -> Sequence[str]:
    """Return the texts of the pending messages in a member's inbox, without changing it."""
    return [delivery.text for delivery in await member.inbox.peek()]


async def ask_back(world: World, member: Member, request: str, text: str) -> MessageId:
    """Ask the asker of a request a question back, in its thread."""
    draft = Draft(Kind.REQUEST, (), (TextPart(text),), in_reply_to=parse_message_id(request), expects_reply=True)
    return (await world.services.mail.send(draft, member.identity, SendPolicy())).message_id
