"""Noting: the events of a commit, recorded in its own transaction, so that the next pass need not read them again."""

from collections.abc import Collection, Mapping, Sequence
from typing import Final, NamedTuple, TypeVar, cast

from covey.core.formats.layout import Layout
from covey.core.ids import DeliveryId, MessageId
from covey.core.ledger.delivery import Delivery
from covey.core.ledger.event import Action, Event
from covey.core.ledger.message import Message
from covey.core.names import Scope
from covey.ports.ledger import Deliveries, Journal, Messages
from covey.ports.store import Operation, Transaction
from covey.services.mirror.standing import LONG, Filed, Standing, standing_of


class Record:
    """The writes of one operation."""

    def __init__(self) -> None:
        self.events: list[Event] = []
        self.messages: dict[MessageId, tuple[Message, str]] = {}
        """New messages that are not swept, with their documents."""
        self.deliveries: dict[MessageId, dict[DeliveryId, Delivery]] = {}

    def filed(self, message_id: MessageId) -> Filed | None:
        """Return a new message with all its deliveries; None if the record may be incomplete."""
        added = self.messages.get(message_id)
        return None if added is None else Filed(*added, tuple(self.deliveries.get(message_id, {}).values()))

    def put(self, delivery: Delivery) -> None:
        self.deliveries.setdefault(delivery.message_id, {})[delivery.id] = delivery


class RecordingTransaction:
    """A transaction that wraps another one and delegates everything it does not record."""

    def __init__(self, tx: Transaction, record: Record) -> None:
        self._tx = tx
        self.ring = tx.ring
        self.agents = tx.agents
        self.sessions = tx.sessions
        self.journal = _Journal(tx.journal, record)
        self.messages = _Messages(tx.messages, record)
        self.deliveries = _Deliveries(tx.deliveries, record)

    @property
    def visible(self) -> Transaction:
        return self._tx.visible

    @property
    def moment(self) -> int:
        return self._tx.moment

    def __getattr__(self, name: str) -> object:
        return getattr(self._tx, name)


class _Journal:
    def __init__(self, journal: Journal, record: Record) -> None:
        self._journal = journal
        self._record = record

    async def append(self, event: Event, details: str | None = None) -> None:
        await self._journal.append(event, details)
        self._record.events.append(event)

    def __getattr__(self, name: str) -> object:
        return getattr(self._journal, name)


class _Messages:
    def __init__(self, messages: Messages, record: Record) -> None:
        self._messages = messages
        self._record = record

    async def add(self, message: Message, document: str, *, is_swept: bool = False) -> None:
        await self._messages.add(message, document, is_swept=is_swept)
        if not is_swept:
            self._record.messages[message.id] = message, document

    async def sweep(self, scope: Scope) -> int:
        self._record.messages.clear()
        return await self._messages.sweep(scope)

    def __getattr__(self, name: str) -> object:
        return getattr(self._messages, name)


class _Deliveries:
    def __init__(self, deliveries: Deliveries, record: Record) -> None:
        self._deliveries = deliveries
        self._record = record

    async def place(self, delivery: Delivery) -> Delivery:
        placed = await self._deliveries.place(delivery)
        self._record.put(placed)
        return placed

    async def put(self, delivery: Delivery) -> None:
        await self._deliveries.put(delivery)
        self._record.put(delivery)

    def __getattr__(self, name: str) -> object:
        return getattr(self._deliveries, name)


T = TypeVar("T")

PAGE: Final = 500
"""The number of events per page."""

MOVING: Final = frozenset(
    {
        Action.MESSAGE_SENT,
        Action.DELIVERY_MOVED,
        Action.DELIVERY_PLACED,
        Action.DELIVERY_ARCHIVED,
        Action.TICKET_OPENED,
        Action.TICKET_MOVED,
    }
)
"""Events that may change the place of a message's files."""

Stands = Mapping[MessageId, Sequence[Standing]]
NOTHING: Final[Stands] = {}


class Page(NamedTuple):
    """Consecutive events of the journal."""

    after: int
    """The position before the first of these events."""
    events: Sequence[Event]
    last: int
    """The last position of the journal."""
    stands: Stands = NOTHING
    """The target states of copies after these events, as far as they were read."""


def touched(events: Sequence[Event]) -> list[MessageId]:
    """Return the messages whose files may have to move."""
    return [event.message_id for event in events if event.action in MOVING and event.message_id is not None]


async def read_page(tx: Transaction, after: int) -> Page:
    """Return a page of events after a position."""
    events = await tx.journal.read(after, PAGE)
    if len(events) < PAGE:
        return Page(after, events, events[-1].position if events else await tx.journal.last())
    return Page(after, events, await tx.journal.last())


def noting(operation: Operation[T], layout: Layout) -> Operation[tuple[T, Page]]:
    """Wrap an operation so that it also returns its events."""

    async def noted(tx: Transaction) -> tuple[T, Page]:
        after = await tx.journal.last()
        record = Record()
        value = await operation(cast(Transaction, RecordingTransaction(tx, record)))
        if not record.events:
            return value, Page(after, (), after)
        last = await tx.journal.last()
        # Only the journal knows the positions; but a single event has the last one.
        events = [record.events[0]._replace(position=last)]
        if len(record.events) > 1:
            events = await tx.journal.read(after, PAGE)
        messages = dict.fromkeys(touched(events))
        stands = NOTHING
        if len(messages) <= LONG:
            stands = {one: list(await standing_of(tx, layout, one, record.filed(one))) for one in messages}
        return value, Page(after, events, last, stands)

    return noted


def chained(after: int, noted: Collection[Page]) -> Page | None:
    """Join pages from a position on as long as they are contiguous; None if there is none. The latest state of a
    message counts."""
    events: list[Event] = []
    stands: dict[MessageId, Sequence[Standing]] = {}
    place = after
    for page in sorted(noted, key=lambda page: page.after):
        if page.after == place and page.events:
            events += page.events
            for message_id in touched(page.events):
                stands.pop(message_id, None)
            stands |= page.stands
            place = page.events[-1].position
    return Page(after, events, max(page.last for page in noted), stands) if events else None
