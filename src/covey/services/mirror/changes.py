"""Changes of a commit: its events and the target state of the copies in the folder, recorded in the commit's own
transaction, so that the next pass need not read them again."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Final, NamedTuple, TypeVar, cast

from covey.core.formats.layout import FileCopy, Layout, Shelf, standing
from covey.core.ledger.delivery import DeliveryRecord
from covey.core.ledger.event import Action, Event
from covey.core.ledger.message import Message
from covey.core.names import AgentName, DeliveryId, MessageId, Scope, ticket_id
from covey.ports.ledger import Deliveries, Journal, Messages
from covey.ports.store import Operation, Transaction
from covey.services.mirror.files import MirrorContext

LONG: Final = 20
"""Reading more messages than this is a long read."""


class CopyTarget(NamedTuple):
    """The copies of one message for one agent."""

    message: Message
    agent: AgentName
    copies: tuple[DeliveryRecord, ...]
    shelf: Shelf | None
    """None for no file."""
    is_only: bool
    """True if no other agent has a copy."""
    task: Message | None
    """The message that handed over the task that this one is about."""
    document: str | None = None
    """The encoded message if it was filed in this commit; None if it is older, and may have files."""


class NewMessage(NamedTuple):
    """A new message that is not swept, with all its deliveries."""

    message: Message
    document: str
    copies: tuple[DeliveryRecord, ...]


class CopyCache:
    """A cache of the copies that one part of a pass has read, for the next part."""

    def __init__(self) -> None:
        self._seen: dict[MessageId, list[CopyTarget]] = {}
        self._copies: dict[tuple[MessageId, AgentName], FileCopy] = {}

    def add(self, standing: CopyTarget) -> None:
        self._seen.setdefault(standing.message.id, []).append(standing)

    def copy(self, standing: CopyTarget, copy: FileCopy) -> FileCopy:
        """Cache a copy with its foreign names, and return it."""
        self._copies[standing.message.id, standing.agent] = copy
        return copy

    async def of(self, ground: MirrorContext, message_id: MessageId) -> Sequence[CopyTarget]:
        """Return the target states of a message's copies."""
        seen = self._seen.get(message_id)
        return await read_targets(ground, [message_id]) if seen is None else seen

    def copied(self, standing: CopyTarget) -> FileCopy | None:
        return self._copies.get((standing.message.id, standing.agent))


async def read_targets(ground: MirrorContext, messages: Sequence[MessageId]) -> Sequence[CopyTarget]:
    """Return the target states of the copies of these messages. A message that is not in the ledger has none."""

    async def operation(tx: Transaction) -> Sequence[CopyTarget]:
        found: list[CopyTarget] = []
        for message_id in messages:
            found += await targets_of(tx, ground.layout, message_id)
        return found

    return await ground.store.read(operation, is_long=len(messages) > LONG)


async def targets_of(
    tx: Transaction, layout: Layout, message_id: MessageId, filed: NewMessage | None = None
) -> Iterable[CopyTarget]:
    """Return the target states of one message's copies. `filed` has its records, if they are known already."""
    message = filed.message if filed is not None else await tx.messages.get(message_id)
    if message is None:
        return ()
    by_agent: dict[AgentName, list[DeliveryRecord]] = {}
    for copy in filed.copies if filed is not None else await tx.deliveries.of_message(message_id):
        if copy.agent is not None:  # an unregistered session has no folder
            by_agent.setdefault(copy.agent, []).append(copy)
    is_swept = filed is None and await tx.messages.is_swept(message_id)
    task = await tx.messages.get(MessageId(message.task.id)) if message.task is not None else None
    document = filed.document if filed is not None else None
    found: list[CopyTarget] = []
    for agent, copies in by_agent.items():
        if await tx.agents.get(agent) is None:
            continue
        ticket = await tx.tickets.get(ticket_id(message_id, agent)) if message.expects_reply else None
        shelf = standing(layout, copies, ticket, is_swept=is_swept)
        found.append(CopyTarget(message, agent, tuple(copies), shelf, len(by_agent) == 1, task, document))
    return found


class CommitRecord:
    """The writes of one operation."""

    def __init__(self) -> None:
        self.events: list[Event] = []
        self.messages: dict[MessageId, tuple[Message, str]] = {}
        """New messages that are not swept, with their documents."""
        self.deliveries: dict[MessageId, dict[DeliveryId, DeliveryRecord]] = {}

    def filed(self, message_id: MessageId) -> NewMessage | None:
        """Return a new message with all its deliveries; None if the record may be incomplete."""
        added = self.messages.get(message_id)
        return None if added is None else NewMessage(*added, tuple(self.deliveries.get(message_id, {}).values()))

    def put(self, delivery: DeliveryRecord) -> None:
        self.deliveries.setdefault(delivery.message_id, {})[delivery.id] = delivery


class RecordingTransaction:
    """A transaction that wraps another one and delegates everything it does not record."""

    def __init__(self, tx: Transaction, record: CommitRecord) -> None:
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
    def directory_version(self) -> int:
        return self._tx.directory_version

    def __getattr__(self, name: str) -> object:
        return getattr(self._tx, name)


class _Journal:
    def __init__(self, journal: Journal, record: CommitRecord) -> None:
        self._journal = journal
        self._record = record

    async def append(self, event: Event, details: str | None = None) -> None:
        await self._journal.append(event, details)
        self._record.events.append(event)

    def __getattr__(self, name: str) -> object:
        return getattr(self._journal, name)


class _Messages:
    def __init__(self, messages: Messages, record: CommitRecord) -> None:
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
    def __init__(self, deliveries: Deliveries, record: CommitRecord) -> None:
        self._deliveries = deliveries
        self._record = record

    async def place(self, delivery: DeliveryRecord) -> DeliveryRecord:
        placed = await self._deliveries.place(delivery)
        self._record.put(placed)
        return placed

    async def put(self, delivery: DeliveryRecord) -> None:
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

Stands = Mapping[MessageId, Sequence[CopyTarget]]
NOTHING: Final[Stands] = {}


class EventPage(NamedTuple):
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


async def read_page(tx: Transaction, after: int) -> EventPage:
    """Return a page of events after a position."""
    events = await tx.journal.read(after, PAGE)
    if len(events) < PAGE:
        return EventPage(after, events, events[-1].position if events else await tx.journal.last())
    return EventPage(after, events, await tx.journal.last())


def recording(operation: Operation[T], layout: Layout) -> Operation[tuple[T, EventPage]]:
    """Wrap an operation so that it also returns its events."""

    async def noted(tx: Transaction) -> tuple[T, EventPage]:
        after = await tx.journal.last()
        record = CommitRecord()
        value = await operation(cast(Transaction, RecordingTransaction(tx, record)))
        if not record.events:
            return value, EventPage(after, (), after)
        last = await tx.journal.last()
        # Only the journal knows the positions; but a single event has the last one.
        events = [record.events[0]._replace(position=last)]
        if len(record.events) > 1:
            events = await tx.journal.read(after, PAGE)
        messages = dict.fromkeys(touched(events))
        stands = NOTHING
        if len(messages) <= LONG:
            stands = {one: list(await targets_of(tx, layout, one, record.filed(one))) for one in messages}
        return value, EventPage(after, events, last, stands)

    return noted


def chained(after: int, noted: Collection[EventPage]) -> EventPage | None:
    """Join pages from a position on as long as they are contiguous; None if there is none. The latest state of a
    message counts."""
    events: list[Event] = []
    stands: dict[MessageId, Sequence[CopyTarget]] = {}
    place = after
    for page in sorted(noted, key=lambda page: page.after):
        if page.after == place and page.events:
            events += page.events
            for message_id in touched(page.events):
                stands.pop(message_id, None)
            stands |= page.stands
            place = page.events[-1].position
    return EventPage(after, events, max(page.last for page in noted), stands) if events else None
