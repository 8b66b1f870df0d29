"""Messages, deliveries, inboxes, offers, tickets and the journal: collections of records in a transaction. Search: a
full-text index of messages, which follows them up to a watermark and never delays a send."""

from collections.abc import Collection, Sequence
from datetime import datetime
from typing import NamedTuple, Protocol

from covey.core.ledger.delivery import DeliveryRecord, DeliveryState
from covey.core.ledger.event import Action, Event
from covey.core.ledger.message import Kind, Message
from covey.core.ledger.offer import Offer
from covey.core.ledger.ticket import Ticket
from covey.core.names import AgentName, DeliveryId, InboxId, MessageId, OfferId, Scope, SessionId, Subject, TicketId


class MessageFilter(NamedTuple):
    """A filter for messages. Fields that are None match everything."""

    scope: Scope | None = None
    subject: Subject | None = None
    kind: Kind | None = None
    sender: AgentName | None = None
    since: datetime | None = None
    """Match messages that were created after this time."""


class Messages(Protocol):
    """Accepted messages. They never change, except that they can be marked as swept."""

    async def add(self, message: Message, document: str, *, is_swept: bool = False) -> None:
        """File the message; `document` is its wire form. The id must be new: `get` it first. One that comes
        from another space may have been swept there.

        A caller has the document at hand, because it must encode a message to know that it is valid and not too large.
        Encoding is a good part of the cost of a send, so a store that keeps documents must not do it again. `document`
        is always `encode(message)`; a store may ignore it."""
        ...

    async def get(self, message_id: MessageId) -> Message | None:
        """Return the message, swept or not, or None."""
        ...

    async def thread(self, thread: MessageId) -> Sequence[Message]:
        """Return all messages of the thread in the order of acceptance, swept ones included."""
        ...

    async def find(self, wanted: MessageFilter, limit: int) -> Sequence[Message]:
        """Return the last `limit` matching messages, in the order of acceptance, swept ones included."""
        ...

    async def latest_of(self, pair: str) -> Message | None:
        """Return the last accepted message whose marks name the pair, or None. The cost does not grow with other
        messages."""
        ...

    async def is_swept(self, message_id: MessageId) -> bool:
        """Tell whether the message exists and is marked as swept."""
        ...

    async def sweep(self, scope: Scope) -> int:
        """Mark all messages of the scope as swept; return the number of those that were not marked before."""
        ...


class Deliveries(Protocol):
    """Deliveries by id and by message."""

    async def get(self, delivery_id: DeliveryId) -> DeliveryRecord | None:
        """Return the delivery, or None."""
        ...

    async def place(self, delivery: DeliveryRecord) -> DeliveryRecord:
        """Add the delivery, or move it to the inbox that it names now. Return it with a `seq` that is greater than any
        before."""
        ...

    async def put(self, delivery: DeliveryRecord) -> None:
        """Replace a delivery that was placed before. Its inbox and seq must be unchanged."""
        ...

    async def of_message(self, message_id: MessageId) -> Sequence[DeliveryRecord]:
        """Return all deliveries of the message, in the order of their ids' numbers."""
        ...

    async def unsettled_in(self, scope: Scope) -> Sequence[DeliveryRecord]:
        """Return the deliveries of the scope that are queued, offered or in context, by seq."""
        ...

    async def handled(self, agent: AgentName, number: int) -> Sequence[DeliveryRecord]:
        """Return the handled copies of the message that has this number for the agent, in the order of their ids'
        numbers. The cost does not grow with other deliveries."""
        ...

    async def lapsed(self, now: datetime, limit: int) -> Sequence[DeliveryRecord]:
        """Return the first `limit` deliveries that are offered with a lease that ended by `now`, or queued and expired
        by `now`: by the time of that end or expiry, then by seq. The cost does not grow with other deliveries."""
        ...


class Inboxes(Protocol):
    """Deliveries by inbox. The cost of each method grows with the waiting deliveries, not with the stored ones."""

    async def waiting(
        self, inbox: InboxId, states: Collection[DeliveryState], after: int = 0, limit: int = 1000
    ) -> Sequence[DeliveryRecord]:
        """Return the first `limit` deliveries in `states` (of queued, offered, in_context) with a seq over `after`,
        by seq."""
        ...

    async def queued(self, inbox: InboxId) -> int:
        """Return the number of deliveries that are queued in the inbox, in constant time."""
        ...

    async def oldest(self, inbox: InboxId, kinds: Collection[Kind]) -> DeliveryRecord | None:
        """Return the queued delivery with the lowest seq that is of one of `kinds`, or None."""
        ...

    async def alike(
        self, inbox: InboxId, sender: AgentName, scope: Scope, subject: Subject
    ) -> Sequence[DeliveryRecord]:
        """Return the queued notifies and updates of that sender, scope and subject, by seq."""
        ...

    async def occupied(self) -> Sequence[InboxId]:
        """Return every inbox with waiting deliveries, by id. The cost grows with the number of these inboxes."""
        ...


class Offers(Protocol):
    """Offers by id."""

    async def get(self, offer_id: OfferId) -> Offer | None:
        """Return the offer, ended or not, or None."""
        ...

    async def put(self, offer: Offer) -> None:
        """Add or replace the offer."""
        ...

    async def live_of(self, session_id: SessionId) -> Sequence[Offer]:
        """Return the session's offers that have no `ended_at`, oldest first."""
        ...


class Tickets(Protocol):
    """Tickets by id. `owed…` return tickets that are not closed, oldest first, at a cost that does not grow with closed
    ones."""

    async def get(self, ticket_id: TicketId) -> Ticket | None:
        """Return the ticket, closed or not, or None."""
        ...

    async def put(self, ticket: Ticket) -> None:
        """Add or replace the ticket."""
        ...

    async def of_message(self, message_id: MessageId) -> Sequence[Ticket]:
        """Return the tickets of the message, closed or not, by debtor."""
        ...

    async def owed_in(self, scope: Scope) -> Sequence[Ticket]:
        """Return the unclosed tickets of the scope."""
        ...

    async def owed_by(self, agent: AgentName) -> Sequence[Ticket]:
        """Return the unclosed tickets whose debtor is the agent."""
        ...

    async def owed_to(self, agent: AgentName) -> Sequence[Ticket]:
        """Return the unclosed tickets whose asker is the agent."""
        ...

    async def awaiting(self, ticket_id: TicketId) -> Sequence[Ticket]:
        """Return the unclosed tickets whose `awaits` is this one."""
        ...

    async def debtors(self) -> Sequence[AgentName]:
        """Return the debtors of all unclosed tickets, registered or not, by name. The cost grows with their number."""
        ...


class EventFilter(NamedTuple):
    """A filter for events. Fields that are None match everything."""

    message_id: MessageId | None = None
    agent: AgentName | None = None
    """The agent that acted, or that the event concerns."""
    scope: Scope | None = None
    action: Action | None = None


class Journal(Protocol):
    """Events by position. Events never change. Only pruning removes events, and it leaves a tombstone."""

    async def append(self, event: Event, details: str | None = None) -> None:
        """Add the event; the store gives it the next position. Positions follow the order of the commits, so that a
        reader at position p has seen everything that was committed up to p. `details` are those of the event as JSON on
        one line, if the caller has them in that form.

        Every send appends one event of a fixed form, whose JSON its caller puts together in a third of the time that a
        general encoder takes. A store that keeps text takes `details`, and any other store takes `event.details`: both
        say the same."""
        ...

    async def read(self, after: int, limit: int, wanted: EventFilter | None = None) -> Sequence[Event]:
        """Return the first `limit` matching events after that position, by position."""
        ...

    async def last(self) -> int:
        """Return the position of the newest event; 0 if there is none."""
        ...


class SearchHit(NamedTuple):
    message_id: MessageId
    snippet: str
    """The matching passage, with the words in «»."""


class Search(Protocol):
    """A full-text index that follows the messages."""

    async def find(self, words: str, limit: int, wanted: MessageFilter | None = None) -> Sequence[SearchHit]:
        """Return the best `limit` messages that have all the words (in subject or text) and match the filter, best
        first, among all that were committed before the call. Any text is a query; punctuation has no meaning."""
        ...

    async def forget(self) -> None:
        """Remove pruned messages from the index. `find` does not return them even before this call."""
        ...

    async def lag(self) -> int:
        """Return the number of messages that are not indexed yet."""
        ...

    async def close(self) -> None: ...
