"""Deliveries in memory: by id, by message, by scope, by inbox, and by the time when they lapse."""

from collections.abc import Collection, Iterable, Sequence
from datetime import datetime
from heapq import merge
from itertools import islice, takewhile

from covey.adapters.memory.table import Order, Shelf, Table
from covey.adapters.memory.undo import UndoLog
from covey.core.delivery import WAITING, Delivery, DeliveryState, lapses_at
from covey.core.ids import DeliveryId, InboxId, MessageId
from covey.core.message import Kind
from covey.core.names import AgentName, Scope, Subject

_SUPERSEDED_KINDS = (Kind.NOTIFY, Kind.UPDATE)


def _places(delivery: Delivery) -> Iterable[tuple[Shelf, Order]]:
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


def _seq(delivery: Delivery) -> int:
    return delivery.seq


class MemoryDeliveries:
    """Both `Deliveries` and, through `MemoryInboxes`, what the inboxes are read from."""

    def __init__(self, log: UndoLog) -> None:
        self.table = Table[DeliveryId, Delivery](log, _places)
        self._last_seq = 0

    async def get(self, delivery_id: DeliveryId) -> Delivery | None:
        return self.table.get(delivery_id)

    async def place(self, delivery: Delivery) -> Delivery:
        # An undone commit leaves a gap in the sequence; a seq is never given twice.
        self._last_seq += 1
        placed = delivery._replace(seq=self._last_seq)
        self.table.put(placed.id, placed)
        return placed

    async def put(self, delivery: Delivery) -> None:
        known = self.table.get(delivery.id)
        if known is None or (known.inbox, known.seq) != (delivery.inbox, delivery.seq):
            raise LookupError(f"delivery {delivery.id} was not placed there; only `place` moves one")
        self.table.put(delivery.id, delivery)

    async def of_message(self, message_id: MessageId) -> Sequence[Delivery]:
        return self.table.on(("message", message_id))

    async def unsettled_in(self, scope: Scope) -> Sequence[Delivery]:
        return self.table.on(("unsettled", scope))

    async def handled(self, agent: AgentName, number: int) -> Sequence[Delivery]:
        return self.table.on(("handled", agent, number))

    async def lapsed(self, now: datetime, limit: int) -> Sequence[Delivery]:
        def has_lapsed(delivery: Delivery) -> bool:
            lapse = lapses_at(delivery)
            return lapse is not None and lapse <= now

        return tuple(islice(takewhile(has_lapsed, self.table.in_order("lapsing")), limit))


class MemoryInboxes:
    """An inbox is one shelf for each state and kind: counting it, or finding its oldest, goes through no deliveries."""

    def __init__(self, deliveries: MemoryDeliveries) -> None:
        self._table = deliveries.table

    async def waiting(
        self, inbox: InboxId, states: Collection[DeliveryState], after: int = 0, limit: int = 1000
    ) -> Sequence[Delivery]:
        shelves = (self._table.in_order(("waiting", inbox, state, kind)) for state in set(states) for kind in Kind)
        later = (delivery for delivery in merge(*shelves, key=_seq) if delivery.seq > after)
        return tuple(islice(later, limit))

    async def queued(self, inbox: InboxId) -> int:
        return sum(self._table.count(("waiting", inbox, DeliveryState.QUEUED, kind)) for kind in Kind)

    async def oldest(self, inbox: InboxId, kinds: Collection[Kind]) -> Delivery | None:
        firsts = (next(self._table.in_order(("waiting", inbox, DeliveryState.QUEUED, kind)), None) for kind in kinds)
        return min((first for first in firsts if first is not None), key=_seq, default=None)

    async def alike(self, inbox: InboxId, sender: AgentName, scope: Scope, subject: Subject) -> Sequence[Delivery]:
        return self._table.on(("alike", inbox, sender, scope, subject))

    async def occupied(self) -> Sequence[InboxId]:
        return sorted({InboxId(inbox) for _, inbox, *_ in self._table.shelves("waiting")})
