"""Debts as the holder of an agent's token sees them: its own in full, and the others only as counted by a gate."""

from collections.abc import Sequence

from covey.core.authority import is_party, seen_by
from covey.core.errors import BeyondToken
from covey.core.identity import Identity
from covey.core.ids import MessageId, TicketId
from covey.core.names import AgentName, Scope
from covey.core.ticket import Ticket
from covey.ports.store import Transaction


class NarrowTickets:
    def __init__(self, tx: Transaction, holder: Identity) -> None:
        self._tx = tx
        self._holder = holder

    async def get(self, ticket_id: TicketId) -> Ticket | None:
        ticket = await self._tx.tickets.get(ticket_id)
        return ticket if ticket is not None and is_party(self._holder.agent, ticket) else None

    async def of_message(self, message_id: MessageId) -> Sequence[Ticket]:
        return self._own(await self._tx.tickets.of_message(message_id))

    async def owed_in(self, scope: Scope) -> Sequence[Ticket]:
        """Return all of them: a gate that counted only some would pass with open debts."""
        return seen_by(self._holder, await self._tx.tickets.owed_in(scope))

    async def owed_by(self, agent: AgentName) -> Sequence[Ticket]:
        self._check(agent)
        return await self._tx.tickets.owed_by(agent)

    async def owed_to(self, agent: AgentName) -> Sequence[Ticket]:
        self._check(agent)
        return await self._tx.tickets.owed_to(agent)

    async def awaiting(self, ticket_id: TicketId) -> Sequence[Ticket]:
        return self._own(await self._tx.tickets.awaiting(ticket_id))

    async def debtors(self) -> Sequence[AgentName]:
        raise BeyondToken(self._holder.agent, "look through debts")

    async def put(self, ticket: Ticket) -> None:
        raise RuntimeError("a read does not write: use commit")

    def _own(self, tickets: Sequence[Ticket]) -> Sequence[Ticket]:
        return [ticket for ticket in tickets if is_party(self._holder.agent, ticket)]

    def _check(self, agent: AgentName) -> None:
        if agent != self._holder.agent:
            raise BeyondToken(self._holder.agent, f"list the debts of {agent}")
