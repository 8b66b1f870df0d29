"""What two engines may differ in: the numbers that they give, not the order of them."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, cast

from covey.core.card import Agent
from covey.core.delivery import Delivery
from covey.core.event import Event
from covey.core.ids import MessageId, OfferId, SessionId, TicketId
from covey.core.message import Message
from covey.core.offer import Offer
from covey.core.session import Session
from covey.core.ticket import Ticket
from covey.ports.store import Transaction


def comparable(value: object) -> object:
    """Return an answer without the seqs and positions in it."""
    if isinstance(value, Delivery):
        return value._replace(seq=0)
    if isinstance(value, Event):
        return value._replace(position=0)
    if isinstance(value, tuple | list):
        items = [comparable(item) for item in cast(Sequence[object], value)]
        return (type(cast(object, value)).__name__, *items) if hasattr(cast(Any, value), "_fields") else items
    return value


class Known(NamedTuple):
    """What a story has named so far, and the journal does not list."""

    sessions: Sequence[SessionId]
    offers: Sequence[OfferId]


class Snapshot(NamedTuple):
    """All records of a space at one moment, by id."""

    agents: Sequence[Agent]
    sessions: Mapping[str, Session | None]
    messages: Mapping[MessageId, Message | None]
    deliveries: Mapping[str, Delivery]
    """With their rank in place of their seq."""
    tickets: Mapping[TicketId, Ticket]
    offers: Mapping[str, Offer | None]
    events: Sequence[Event]
    """Without positions."""


async def snapshot(tx: Transaction, known: Known) -> Snapshot:
    """Return all that is known of a space."""
    events: list[Event] = []
    while page := await tx.journal.read(events[-1].position if events else 0, 1000):
        events.extend(page)
    messages = dict.fromkeys(event.message_id for event in events if event.message_id is not None)
    deliveries = [copy for message_id in messages for copy in await tx.deliveries.of_message(message_id)]
    ranks = {seq: rank for rank, seq in enumerate(sorted(copy.seq for copy in deliveries))}
    return Snapshot(
        agents=list(await tx.agents.all()),
        sessions={session_id: await tx.sessions.get(session_id) for session_id in known.sessions},
        messages={message_id: await tx.messages.get(message_id) for message_id in messages},
        deliveries={copy.id: copy._replace(seq=ranks[copy.seq]) for copy in deliveries},
        tickets={t.id: t for message_id in messages for t in await tx.tickets.of_message(message_id)},
        offers={offer_id: await tx.offers.get(offer_id) for offer_id in known.offers},
        events=[event._replace(position=0) for event in events],
    )
