"""Tickets in memory; closed ones stand on no shelf but that of their message."""

from collections.abc import Iterable, Sequence

from covey.adapters.memory.table import Order, Shelf, Table
from covey.adapters.memory.undo import UndoLog
from covey.core.ids import MessageId, TicketId
from covey.core.names import AgentName, Scope
from covey.core.ticket import Ticket, TicketState


def _places(ticket: Ticket) -> Iterable[tuple[Shelf, Order]]:
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
        self.table = Table[TicketId, Ticket](log, _places)

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
