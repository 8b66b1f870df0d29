"""Tickets in SQLite."""

from collections.abc import Sequence

from covey.adapters.sqlite.engine.access import Access
from covey.adapters.sqlite.engine.connection import Row
from covey.adapters.sqlite.engine.statements import statements
from covey.adapters.sqlite.records.values import record_of, to_instant, to_instant_or_none, to_text, to_text_or_null
from covey.core.ids import MessageId, TicketId, ticket_id
from covey.core.ledger.ticket import Ticket, TicketMove, TicketState, Trouble
from covey.core.names import AgentName, Scope

_SQL = statements("tickets")


class SqliteTickets:
    __slots__ = ("_access",)

    def __init__(self, access: Access) -> None:
        self._access = access

    async def get(self, ticket_id: TicketId) -> Ticket | None:
        message_id, _, debtor = ticket_id.partition("@")
        row = self._access.read(_SQL["get"], (message_id, debtor)).fetchone()
        return None if row is None else decode_ticket(row)

    async def put(self, ticket: Ticket) -> None:
        self._access.write(_SQL["put"], _encode(ticket))

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
        return [AgentName(name) for (name,) in self._access.read(_SQL["debtors"])]

    def _find(self, name: str, value: str) -> Sequence[Ticket]:
        return [decode_ticket(row) for row in self._access.read(_SQL[name], (value,))]


def _encode(ticket: Ticket) -> Row:
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
        None if trouble is None else Trouble(trouble),
        awaits,
        to_instant_or_none(closed_at),
        None if close_reason is None else TicketMove(close_reason),
    )
