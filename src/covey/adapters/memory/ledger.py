"""Messages, deliveries, inboxes, offers, tickets and the journal in memory."""

from bisect import bisect_right
from collections.abc import Callable, Collection, Iterable, Sequence
from datetime import datetime
from functools import partial
from heapq import merge
from itertools import islice, takewhile
from typing import NamedTuple

from covey.adapters.memory.table import Order, Shelf, Table, UndoLog
from covey.core.ledger.delivery import WAITING, DeliveryRecord, DeliveryState, lapses_at
from covey.core.ledger.event import Event
from covey.core.ledger.message import Kind, Message
from covey.core.ledger.offer import Offer
from covey.core.ledger.ticket import Ticket, TicketState
from covey.core.names import AgentName, DeliveryId, InboxId, MessageId, OfferId, Scope, SessionId, Subject, TicketId
from covey.ports.ledger import EventFilter, MessageFilter


class MessageEntry(NamedTuple):
    message: Message
    is_swept: bool = False


def _message_places(filed: MessageEntry) -> Iterable[tuple[Shelf, Order]]:
    yield ("thread", filed.message.thread), 0
    if filed.message.marks is not None and filed.message.marks.pair is not None:
        yield ("pair", filed.message.marks.pair), 0
    if filed.message.scope is not None and not filed.is_swept:
        yield ("unswept", filed.message.scope), 0


class MemoryMessages:
    def __init__(self, log: UndoLog) -> None:
        self.filed = Table[MessageId, MessageEntry](log, _message_places)

    async def add(self, message: Message, document: str, *, is_swept: bool = False) -> None:
        if self.filed.get(message.id) is not None:
            raise LookupError(f"message {message.id} is filed already")
        self.filed.put(message.id, MessageEntry(message, is_swept))

    async def get(self, message_id: MessageId) -> Message | None:
        filed = self.filed.get(message_id)
        return filed.message if filed else None

    async def thread(self, thread: MessageId) -> Sequence[Message]:
        return tuple(filed.message for filed in self.filed.on(("thread", thread)))

    async def find(self, wanted: MessageFilter, limit: int) -> Sequence[Message]:
        newest = (filed.message for filed in self.filed.newest_first() if _message_fits(filed.message, wanted))
        return tuple(islice(newest, limit))[::-1]

    async def latest_of(self, pair: str) -> Message | None:
        found = self.filed.on(("pair", pair))
        return found[-1].message if found else None

    async def is_swept(self, message_id: MessageId) -> bool:
        filed = self.filed.get(message_id)
        return filed is not None and filed.is_swept

    async def sweep(self, scope: Scope) -> int:
        unswept = self.filed.on(("unswept", scope))
        for filed in unswept:
            self.filed.put(filed.message.id, filed._replace(is_swept=True))
        return len(unswept)


def _message_fits(message: Message, wanted: MessageFilter) -> bool:
    return (
        (wanted.scope is None or message.scope == wanted.scope)
        and (wanted.subject is None or message.subject == wanted.subject)
        and (wanted.kind is None or message.kind is wanted.kind)
        and (wanted.sender is None or message.sender.agent == wanted.sender)
        and (wanted.since is None or message.created_at > wanted.since)
    )


_SUPERSEDED_KINDS = (Kind.NOTIFY, Kind.UPDATE)


def _delivery_places(delivery: DeliveryRecord) -> Iterable[tuple[Shelf, Order]]:
    copy = int(delivery.id.rpartition(".")[2])
    yield ("message", delivery.message_id), copy
    if delivery.state is DeliveryState.HANDLED:
        yield ("handled", delivery.agent, delivery.number), copy
    if delivery.state not in WAITING:
        return
    yield ("waiting", delivery.inbox, delivery.state, delivery.kind), delivery.seq
    if delivery.scope is not None:
        yield ("unsettled", delivery.scope), delivery.seq
    if delivery.state is DeliveryState.QUEUED and delivery.kind in _SUPERSEDED_KINDS:
        yield ("alike", delivery.inbox, delivery.sender, delivery.scope, delivery.subject), delivery.seq
    lapse = lapses_at(delivery)
    if lapse is not None:
        yield "lapsing", (lapse, delivery.seq)


def _seq(delivery: DeliveryRecord) -> int:
    return delivery.seq


class MemoryDeliveries:
    """`Deliveries`, and through `MemoryInboxes` the table of the inboxes."""

    def __init__(self, log: UndoLog) -> None:
        self.table = Table[DeliveryId, DeliveryRecord](log, _delivery_places)
        self._last_seq = 0

    async def get(self, delivery_id: DeliveryId) -> DeliveryRecord | None:
        return self.table.get(delivery_id)

    async def place(self, delivery: DeliveryRecord) -> DeliveryRecord:
        # An undone commit leaves a gap in the sequence; a seq is never given twice.
        self._last_seq += 1
        placed = delivery._replace(seq=self._last_seq)
        self.table.put(placed.id, placed)
        return placed

    async def put(self, delivery: DeliveryRecord) -> None:
        known = self.table.get(delivery.id)
        if known is None or (known.inbox, known.seq) != (delivery.inbox, delivery.seq):
            raise LookupError(f"delivery {delivery.id} was not placed there; only `place` moves one")
        self.table.put(delivery.id, delivery)

    async def of_message(self, message_id: MessageId) -> Sequence[DeliveryRecord]:
        return self.table.on(("message", message_id))

    async def unsettled_in(self, scope: Scope) -> Sequence[DeliveryRecord]:
        return self.table.on(("unsettled", scope))

    async def handled(self, agent: AgentName, number: int) -> Sequence[DeliveryRecord]:
        return self.table.on(("handled", agent, number))

    async def lapsed(self, now: datetime, limit: int) -> Sequence[DeliveryRecord]:
        def has_lapsed(delivery: DeliveryRecord) -> bool:
            lapse = lapses_at(delivery)
            return lapse is not None and lapse <= now

        return tuple(islice(takewhile(has_lapsed, self.table.in_order("lapsing")), limit))


class MemoryInboxes:
    """Inboxes with one shelf for each state and kind, so that a count or the oldest delivery needs no scan."""

    def __init__(self, deliveries: MemoryDeliveries) -> None:
        self._table = deliveries.table

    async def waiting(
        self, inbox: InboxId, states: Collection[DeliveryState], after: int = 0, limit: int = 1000
    ) -> Sequence[DeliveryRecord]:
        shelves = (self._table.in_order(("waiting", inbox, state, kind)) for state in set(states) for kind in Kind)
        later = (delivery for delivery in merge(*shelves, key=_seq) if delivery.seq > after)
        return tuple(islice(later, limit))

    async def queued(self, inbox: InboxId) -> int:
        return sum(self._table.count(("waiting", inbox, DeliveryState.QUEUED, kind)) for kind in Kind)

    async def oldest(self, inbox: InboxId, kinds: Collection[Kind]) -> DeliveryRecord | None:
        firsts = (next(self._table.in_order(("waiting", inbox, DeliveryState.QUEUED, kind)), None) for kind in kinds)
        return min((first for first in firsts if first is not None), key=_seq, default=None)

    async def alike(
        self, inbox: InboxId, sender: AgentName, scope: Scope, subject: Subject
    ) -> Sequence[DeliveryRecord]:
        return self._table.on(("alike", inbox, sender, scope, subject))

    async def occupied(self) -> Sequence[InboxId]:
        return sorted({InboxId(inbox) for _, inbox, *_ in self._table.shelves("waiting")})


def _offer_places(offer: Offer) -> Iterable[tuple[Shelf, Order]]:
    if offer.ended_at is None:
        yield offer.session, offer.offered_at


class MemoryOffers:
    def __init__(self, log: UndoLog) -> None:
        self.table = Table[OfferId, Offer](log, _offer_places)

    async def get(self, offer_id: OfferId) -> Offer | None:
        return self.table.get(offer_id)

    async def put(self, offer: Offer) -> None:
        self.table.put(offer.id, offer)

    async def live_of(self, session_id: SessionId) -> Sequence[Offer]:
        return self.table.on(session_id)


def _ticket_places(ticket: Ticket) -> Iterable[tuple[Shelf, Order]]:
    yield ("message", ticket.message_id), ticket.debtor
    if ticket.state is TicketState.CLOSED:
        return
    yield ("by", ticket.debtor), ticket.opened_at
    yield ("to", ticket.asker), ticket.opened_at
    if ticket.scope is not None:
        yield ("in", ticket.scope), ticket.opened_at
    if ticket.awaits is not None:
        yield ("awaiting", ticket.awaits), ticket.opened_at


class MemoryTickets:
    def __init__(self, log: UndoLog) -> None:
        self.table = Table[TicketId, Ticket](log, _ticket_places)

    async def get(self, ticket_id: TicketId) -> Ticket | None:
        return self.table.get(ticket_id)

    async def put(self, ticket: Ticket) -> None:
        self.table.put(ticket.id, ticket)

    async def of_message(self, message_id: MessageId) -> Sequence[Ticket]:
        return self.table.on(("message", message_id))

    async def owed_in(self, scope: Scope) -> Sequence[Ticket]:
        return self.table.on(("in", scope))

    async def owed_by(self, agent: AgentName) -> Sequence[Ticket]:
        return self.table.on(("by", agent))

    async def owed_to(self, agent: AgentName) -> Sequence[Ticket]:
        return self.table.on(("to", agent))

    async def awaiting(self, ticket_id: TicketId) -> Sequence[Ticket]:
        return self.table.on(("awaiting", ticket_id))

    async def debtors(self) -> Sequence[AgentName]:
        return sorted(AgentName(debtor) for _, debtor in self.table.shelves("by"))


class MemoryJournal:
    def __init__(self, log: UndoLog) -> None:
        self._log = log
        self._events: list[Event] = []
        self._given = 0

    async def append(self, event: Event, details: str | None = None) -> None:
        del details  # only stores that write JSON need the encoded text
        self._log.record(self._drop_last)
        # An undone commit leaves a gap; a position is never given twice.
        self._given += 1
        self._events.append(event._replace(position=self._given))

    async def read(self, after: int, limit: int, wanted: EventFilter | None = None) -> Sequence[Event]:
        later = islice(self._events, bisect_right(self._events, after, key=_position), None)
        return tuple(islice((e for e in later if wanted is None or _event_fits(e, wanted)), limit))

    async def last(self) -> int:
        return self._events[-1].position if self._events else 0

    def remove(self, is_gone: Callable[[Event], bool]) -> int:
        """Remove the events for which `is_gone` is true; return their number."""
        left = [event for event in self._events if not is_gone(event)]
        removed = len(self._events) - len(left)
        self._log.record(partial(self._restore, self._events))
        self._events = left
        return removed

    def _drop_last(self) -> None:
        del self._events[-1]

    def _restore(self, events: list[Event]) -> None:
        self._events = events


def _position(event: Event) -> int:
    return event.position


def _event_fits(event: Event, wanted: EventFilter) -> bool:
    return (
        (wanted.message_id is None or event.message_id == wanted.message_id)
        and (wanted.agent is None or wanted.agent in (event.agent, event.actor.agent))
        and (wanted.scope is None or event.scope == wanted.scope)
        and (wanted.action is None or event.action is wanted.action)
    )
