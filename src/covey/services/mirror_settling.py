"""Settling: a file that a foreign program moves out of an inbox is handled."""

from collections.abc import Iterable

from covey.core.delivery import WAITING, Delivery, Move
from covey.core.event import Action
from covey.core.gate import verdict
from covey.core.ids import MessageId, ticket_id
from covey.core.layout import Known, Layout, Shelf
from covey.core.layout_reading import scope_of
from covey.core.names import AgentName, Scope
from covey.core.ticket import TicketMove, TicketState
from covey.ports.store import Transaction
from covey.services.act import Act, journal, shift, shift_ticket
from covey.services.mirror_ground import BY_OTHERS, Ground, foreigner


class Settling:
    def __init__(self, ground: Ground) -> None:
        self._ground = ground

    async def put_away(self, message_id: MessageId, agent: AgentName) -> None:
        """Settle the copies of an agent. In the dialogue layout that also closes its ticket, because loops archive
        after they have answered. A mailbox archives what was merely read, and the answer comes later."""

        async def operation(tx: Transaction) -> None:
            copies = [copy for copy in await tx.deliveries.of_message(message_id) if copy.agent == agent]
            act = Act(tx, foreigner(agent), self._ground.clock.now())
            settled = [await _settled(act, copy) for copy in copies]
            if self._ground.layout is Layout.DIALOGUE and settled:
                await _archive(act, message_id, agent, settled)

        await self._ground.store.commit(operation)

    async def swept(self, moved: Iterable[Known]) -> None:
        """Sweep the scopes whose files were moved to the shelf of swept messages, if nothing in them is open."""
        scopes = {scope_of(known.spot.scope): known.agent for known in moved if known.spot.shelf is Shelf.SWEPT}
        for scope, agent in scopes.items():
            if scope is not None:
                await self._sweep(scope, agent)

    async def _sweep(self, scope: Scope, agent: AgentName) -> None:
        async def operation(tx: Transaction) -> None:
            is_open = not verdict(scope, await tx.tickets.owed_in(scope)).passed
            if is_open or await tx.deliveries.unsettled_in(scope):
                return
            moved = await tx.messages.sweep(scope)
            if moved:
                act = Act(tx, foreigner(agent), self._ground.clock.now())
                await journal(act, Action.MESSAGE_SWEPT, scope=scope, moved=moved, reason=BY_OTHERS)

        await self._ground.store.commit(operation, is_long=True)


async def _settled(act: Act, copy: Delivery) -> Delivery:
    return await shift(act, copy, Move.SETTLE, BY_OTHERS) if copy.state in WAITING else copy


async def _archive(act: Act, message_id: MessageId, agent: AgentName, copies: Iterable[Delivery]) -> None:
    ticket = await act.tx.tickets.get(ticket_id(message_id, agent))
    if ticket is not None and ticket.state is not TicketState.CLOSED:
        await shift_ticket(act, ticket, TicketMove.ARCHIVE)
    kept = [copy for copy in copies if copy.archived_at is None and copy.is_terminal]
    for copy in kept:
        await act.tx.deliveries.put(copy._replace(archived_at=act.now))
    if kept:
        await journal(act, Action.DELIVERY_ARCHIVED, message_id=message_id, agent=agent, reason=BY_OTHERS)
