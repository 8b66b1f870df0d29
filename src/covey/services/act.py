"""The act: a transaction with its actor and its time. Every change to the ledger is written and journalled here."""

from datetime import datetime
from typing import NamedTuple

from covey.core.identity import Identity
from covey.core.json import Json
from covey.core.ledger.delivery import DeliveryRecord, Move, moved
from covey.core.ledger.event import Action, Event
from covey.core.ledger.ticket import Ticket, TicketMove, TicketState, TicketTrouble, ticket_moved
from covey.core.names import JOURNAL_TOPIC, AgentName, InboxId, MessageId, Scope, inbox_topic, message_topic
from covey.ports.store import Transaction


class Act(NamedTuple):
    tx: Transaction
    actor: Identity
    now: datetime


async def journal(
    act: Act,
    action: Action,
    *,
    message_id: MessageId | None = None,
    agent: AgentName | None = None,
    scope: Scope | None = None,
    **details: Json,
) -> None:
    """Append an event to the journal and wake its listeners."""
    await act.tx.journal.append(Event(action, act.actor, act.now, message_id, agent, scope, details))
    act.tx.ring(JOURNAL_TOPIC)


async def shift(act: Act, delivery: DeliveryRecord, move: Move, reason: str | None = None) -> DeliveryRecord:
    """Move a delivery along its state table, and journal the move."""
    after = moved(delivery, move, act.now, reason)
    await act.tx.deliveries.put(after)
    await journal(
        act,
        Action.DELIVERY_MOVED,
        message_id=delivery.message_id,
        agent=delivery.agent,
        scope=delivery.scope,
        delivery=delivery.id,
        **{"from": str(delivery.state), "move": str(move), "to": str(after.state)},
        reason=reason,
    )
    act.tx.ring(message_topic(delivery.message_id))
    return after


async def place(act: Act, delivery: DeliveryRecord, inbox: InboxId) -> DeliveryRecord:
    """Move a queued delivery to another inbox: it is parked with the agent, or adopted by a session. The readers of
    that inbox have seen nothing of the message yet."""
    after = await act.tx.deliveries.place(delivery._replace(inbox=inbox, updated_at=act.now, seen=None))
    await journal(
        act,
        Action.DELIVERY_PLACED,
        message_id=delivery.message_id,
        agent=delivery.agent,
        scope=delivery.scope,
        delivery=delivery.id,
        inbox=inbox,
    )
    act.tx.ring(inbox_topic(inbox))
    act.tx.ring(message_topic(delivery.message_id))
    return after


async def open_ticket(act: Act, ticket: Ticket) -> None:
    """Record a debt that begins after its request was accepted."""
    await act.tx.tickets.put(ticket)
    await journal(
        act,
        Action.TICKET_OPENED,
        message_id=ticket.message_id,
        agent=ticket.debtor,
        scope=ticket.scope,
        ticket=ticket.id,
    )
    act.tx.ring(message_topic(ticket.message_id))


async def shift_ticket(act: Act, ticket: Ticket, *moves: TicketMove, answer: MessageId | None = None) -> Ticket:
    """Move a ticket along its state table, and journal each move. The debts of tickets that awaited this one return to
    their own debtors. `answer` is the message that the move ANSWER records."""
    after = ticket
    for move in moves:
        before, after = after, ticket_moved(after, move, act.now)
        given = answer if move is TicketMove.ANSWER else None
        if given is not None:
            after = after._replace(answer=given)
        await journal(
            act,
            Action.TICKET_MOVED,
            message_id=ticket.message_id,
            agent=ticket.debtor,
            scope=ticket.scope,
            ticket=ticket.id,
            **{"from": str(before.state), "move": str(move), "to": str(after.state)},
            answer=given,
        )
    await act.tx.tickets.put(after)
    for waiting in await act.tx.tickets.awaiting(ticket.id):
        await pass_debt(act, waiting, None)
    act.tx.ring(message_topic(ticket.message_id))
    return after


async def pass_debt(act: Act, ticket: Ticket, question: Ticket | None) -> None:
    """Pass the debt of `ticket` to the debtor of `question`, which must be answered first. With None, return it to its
    own debtor."""
    await act.tx.tickets.put(ticket._replace(awaits=question.id if question else None))
    await journal(
        act,
        Action.TICKET_PASSED,
        message_id=ticket.message_id,
        agent=question.debtor if question else ticket.debtor,
        scope=ticket.scope,
        ticket=ticket.id,
        awaits=question.id if question else None,
    )
    act.tx.ring(message_topic(ticket.message_id))


async def trouble(act: Act, ticket: Ticket, why: TicketTrouble) -> Ticket:
    """Note on an open ticket why its answer may never come. The ticket stays open."""
    if ticket.state is not TicketState.OPEN or ticket.trouble is not None:
        return ticket
    after = ticket._replace(trouble=why)
    await act.tx.tickets.put(after)
    await journal(
        act,
        Action.TICKET_TROUBLED,
        message_id=ticket.message_id,
        agent=ticket.debtor,
        scope=ticket.scope,
        ticket=ticket.id,
        trouble=str(why),
    )
    act.tx.ring(message_topic(ticket.message_id))
    return after
