"""Offers and tickets in SQLite: presentations of deliveries to sessions, and replies that agents owe."""

from collections.abc import Sequence
from datetime import timedelta
from typing import Final

from covey.adapters.sqlite.engine.access import Access, statements
from covey.adapters.sqlite.engine.connection import Row
from covey.adapters.sqlite.records.rows import (
    from_json,
    record_of,
    to_instant,
    to_instant_or_none,
    to_text,
    to_text_or_null,
)
from covey.core.json import to_json
from covey.core.ledger.offer import Extent, Offer, Presentation
from covey.core.ledger.ticket import Ticket, TicketMove, TicketState, TicketTrouble
from covey.core.names import AgentName, MessageId, OfferId, Scope, SessionId, TicketId, ticket_id

_OFFERS = statements("offers")
_MICROSECOND: Final = timedelta(microseconds=1)


class SqliteOffers:
    __slots__ = ("_access",)

    def __init__(self, access: Access) -> None:
        self._access = access

    async def get(self, offer_id: OfferId) -> Offer | None:
        row = self._access.read(_OFFERS["get"], (offer_id,)).fetchone()
        return None if row is None else decode_offer(row)

    async def put(self, offer: Offer) -> None:
        row = (
            offer.id,
            offer.session,
            offer.turn,
            to_json(offer.deliveries),
            to_text(offer.offered_at),
            to_text(offer.lease_until),
            offer.presentation,
            to_text_or_null(offer.ended_at),
            offer.end_reason,
            offer.lease // _MICROSECOND,
            to_json(offer.extents) if offer.extents else None,
        )
        self._access.write(_OFFERS["put"], row)

    async def live_of(self, session_id: SessionId) -> Sequence[Offer]:
        return [decode_offer(row) for row in self._access.read(_OFFERS["live_of"], (session_id,))]


@record_of("offers")
def decode_offer(row: Row) -> Offer:
    """Return the offer of a row."""
    (
        offer_id,
        session,
        turn,
        deliveries,
        offered_at,
        lease_until,
        presentation,
        ended_at,
        end_reason,
        lease_us,
        extents,
    ) = row
    return Offer(
        offer_id,
        session,
        turn,
        tuple(from_json(deliveries)),
        to_instant(offered_at),
        to_instant(lease_until),
        Presentation(presentation),
        to_instant_or_none(ended_at),
        end_reason,
        timedelta(microseconds=lease_us),
        () if extents is None else tuple([Extent(*extent) for extent in from_json(extents)]),
    )


_TICKETS = statements("tickets")


class SqliteTickets:
    __slots__ = ("_access",)

    def __init__(self, access: Access) -> None:
        self._access = access

    async def get(self, ticket_id: TicketId) -> Ticket | None:
        message_id, _, debtor = ticket_id.partition("@")
        row = self._access.read(_TICKETS["get"], (message_id, debtor)).fetchone()
        return None if row is None else decode_ticket(row)

    async def put(self, ticket: Ticket) -> None:
        self._access.write(_TICKETS["put"], _encode_ticket(ticket))

    async def of_message(self, message_id: MessageId) -> Sequence[Ticket]:
        return self._find("of_message", message_id)

    async def owed_in(self, scope: Scope) -> Sequence[Ticket]:
        return self._find("owed_in", scope)

    async def owed_by(self, agent: AgentName) -> Sequence[Ticket]:
        return self._find("owed_by", agent)

    async def owed_to(self, agent: AgentName) -> Sequence[Ticket]:
        return self._find("owed_to", agent)

    async def awaiting(self, ticket_id: TicketId) -> Sequence[Ticket]:
        return self._find("awaiting", ticket_id)

    async def debtors(self) -> Sequence[AgentName]:
        return [AgentName(name) for (name,) in self._access.read(_TICKETS["debtors"])]

    def _find(self, name: str, value: str) -> Sequence[Ticket]:
        return [decode_ticket(row) for row in self._access.read(_TICKETS[name], (value,))]


def _encode_ticket(ticket: Ticket) -> Row:
    return (
        ticket.message_id,
        ticket.debtor,
        ticket.thread,
        ticket.asker,
        ticket.asker_session,
        ticket.state,
        ticket.scope,
        ticket.subject,
        to_text(ticket.opened_at),
        to_text_or_null(ticket.due_at),
        ticket.answer,
        ticket.trouble,
        ticket.awaits,
        to_text_or_null(ticket.closed_at),
        ticket.close_reason,
    )


@record_of("tickets")
def decode_ticket(row: Row) -> Ticket:
    """Return the ticket of a row."""
    (
        message_id,
        debtor,
        thread,
        asker,
        asker_session,
        state,
        scope,
        subject,
        opened_at,
        due_at,
        answer,
        trouble,
        awaits,
        closed_at,
        close_reason,
    ) = row
    return Ticket(
        ticket_id(message_id, debtor),
        message_id,
        thread,
        asker,
        debtor,
        TicketState(state),
        to_instant(opened_at),
        asker_session,
        scope,
        subject,
        to_instant_or_none(due_at),
        answer,
        None if trouble is None else TicketTrouble(trouble),
        awaits,
        to_instant_or_none(closed_at),
        None if close_reason is None else TicketMove(close_reason),
    )
