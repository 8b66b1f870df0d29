"""History: the journal from a position on, and full-text search of messages."""

import sys
from collections.abc import Sequence
from typing import Final, NamedTuple

from covey.core.ledger.delivery import DeliveryRecord, DeliveryState
from covey.core.ledger.event import Action, Event, texts
from covey.core.ledger.message import Message
from covey.core.ledger.ticket import Ticket
from covey.core.names import AgentName, MessageId
from covey.ports.clock import Clock
from covey.ports.ledger import EventFilter, MessageFilter, Search
from covey.ports.store import Store, Transaction
from covey.services.mail.current_state import copies_by_now, tickets_by_now
from covey.services.records import known_message

ALL: Final = sys.maxsize


class SearchResult(NamedTuple):
    """A message that a search found, with the matching snippet."""

    message: Message
    snippet: str


class MessageLedger(NamedTuple):
    """All records of one message."""

    message: Message
    deliveries: Sequence[DeliveryRecord]
    tickets: Sequence[Ticket]
    events: Sequence[Event]
    """The message's history, by position: its own events, and the offers and evidence that name its deliveries."""


class History:
    def __init__(self, store: Store, clock: Clock, search: Search) -> None:
        self._store = store
        self._clock = clock
        self._search = search

    async def read(self, after: int = 0, limit: int = 1000, wanted: EventFilter | None = None) -> Sequence[Event]:
        """Return the first matching events after a position."""

        async def operation(tx: Transaction) -> Sequence[Event]:
            return await tx.journal.read(after, limit, wanted)

        return await self._store.read(operation, is_long=True)

    async def last(self) -> int:
        """Return the position of the newest event."""

        async def operation(tx: Transaction) -> int:
            return await tx.journal.last()

        return await self._store.read(operation)

    async def ledger(self, message_id: MessageId) -> MessageLedger:
        """Return the ledger of a message: each delivery and ticket, and the events that led to their states."""

        async def operation(tx: Transaction) -> MessageLedger:
            now = self._clock.now()
            message = await known_message(tx, message_id)
            deliveries = await copies_by_now(tx, message_id, now)
            own = await tx.journal.read(0, ALL, EventFilter(message_id=message_id))
            events = {event.position: event for event in own}
            ids = {delivery.id for delivery in deliveries}
            for agent in _shown_to(deliveries, own):
                for action in (Action.OFFER_MADE, Action.EVIDENCE):
                    # These events cover everything that was shown together, so that they are not filed under one
                    # message.
                    wanted = EventFilter(agent=agent, action=action)
                    shown = await tx.journal.read(own[0].position if own else 0, ALL, wanted)
                    events |= {e.position: e for e in shown if ids & set(texts(e.details, "deliveries"))}
            tickets = await tickets_by_now(tx, await tx.tickets.of_message(message_id), now)
            return MessageLedger(message, deliveries, tickets, [events[position] for position in sorted(events)])

        return await self._store.read(operation, is_long=True)

    async def search(self, words: str, limit: int = 20, wanted: MessageFilter | None = None) -> Sequence[SearchResult]:
        """Return the matching messages that contain all the words, best first."""
        hits = await self._search.find(words, limit, wanted)

        async def operation(tx: Transaction) -> Sequence[SearchResult]:
            found = [(await tx.messages.get(hit.message_id), hit.snippet) for hit in hits]
            return [SearchResult(message, snippet) for message, snippet in found if message is not None]

        return await self._store.read(operation)


def _shown_to(deliveries: Sequence[DeliveryRecord], events: Sequence[Event]) -> set[AgentName]:
    """Return the agents whose models were shown a copy, according to its records and its own events."""
    now = {d.agent for d in deliveries if d.grade is not None or d.state is DeliveryState.OFFERED}
    before = {event.agent for event in events if event.details.get("from") == DeliveryState.OFFERED}
    return {agent for agent in now | before if agent is not None}
