"""Recording: a transaction that remembers its own writes."""

from covey.core.delivery import Delivery
from covey.core.event import Event
from covey.core.ids import DeliveryId, MessageId
from covey.core.message import Message
from covey.core.names import Scope
from covey.ports.journal import Journal
from covey.ports.ledger import Deliveries, Messages
from covey.ports.store import Transaction
from covey.services.mirror_standing import Filed


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
