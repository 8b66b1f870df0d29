"""Awaited answers: an answer with a waiter goes to the waiter, and not to the reader of the inbox.

Without this rule an answer would arrive twice in a program that waits for it and reads its inbox meanwhile. The waiter
settles the delivery when it takes the answer; if the waiter gives up, the answer is left to the inbox.
"""

from collections.abc import Sequence
from datetime import datetime

from covey.core.identity import Grade
from covey.core.ids import TicketId, ticket_message
from covey.core.ledger.delivery import Delivery
from covey.core.ledger.message import Kind, Message
from covey.core.ledger.ticket import Ticket
from covey.core.ledger.waits import Wait
from covey.core.names import AgentName
from covey.ports.store import Transaction
from covey.services.known import known_message
from covey.services.mail.notices import is_notice_of


async def without_awaited(
    tx: Transaction, deliveries: Sequence[Delivery], agent: AgentName, now: datetime
) -> Sequence[Delivery]:
    """Return the deliveries that are for the readers of the agent's inbox. An agent that waits for nothing costs one
    small read."""
    tickets = await _tickets(tx, agent, now)
    if not tickets:
        return deliveries
    kept: list[Delivery] = []
    for delivery in deliveries:
        if not _is_given(await known_message(tx, delivery.message_id), tickets):
            kept.append(delivery)
    return kept


async def is_awaited(tx: Transaction, message: Message, agent: AgentName, now: datetime) -> bool:
    """Tell whether a session of the agent waits for the message."""
    return may_be_awaited(message) and _is_given(message, await _tickets(tx, agent, now))


def may_be_awaited(message: Message) -> bool:
    """Tell whether the message is of a kind that a session can wait for: an answer, a question back or a notice."""
    return message.in_reply_to is not None and (
        message.kind in (Kind.RESPONSE, Kind.REQUEST) or message.sender.grade is Grade.SPACE
    )


async def _tickets(tx: Transaction, agent: AgentName, now: datetime) -> Sequence[tuple[Wait, Ticket]]:
    """Return the agent's tickets with a live wait."""
    found: list[tuple[Wait, Ticket]] = []
    for wait in await tx.waits.of(agent):
        if "@" in wait.what and wait.takes_at(now) and await _is_open(tx, wait):
            ticket = await tx.tickets.get(TicketId(wait.what))
            if ticket is not None:
                found.append((wait, ticket))
    return found


async def _is_open(tx: Transaction, wait: Wait) -> bool:
    session = await tx.sessions.get(wait.session) if wait.session is not None else None
    return wait.session is None or (session is not None and session.ended_at is None)


def _is_given(message: Message, waiting: Sequence[tuple[Wait, Ticket]]) -> bool:
    return any(
        ticket.answer == message.id
        or is_notice_of(message, ticket)
        or (wait.takes_questions and ticket.awaits is not None and ticket_message(ticket.awaits) == message.id)
        for wait, ticket in waiting
    )
