"""The debt: the first state of a ticket, which follows from the states of the request's copies."""

from collections.abc import Collection, Iterable
from datetime import datetime

from covey.core.delivery import TERMINAL, Delivery, DeliveryState
from covey.core.ids import ticket_id
from covey.core.message import Message
from covey.core.names import AgentName
from covey.core.ticket import Ticket, TicketMove, TicketState, Trouble, ticket_moved


def opening(copies: Collection[DeliveryState]) -> tuple[TicketMove | None, Trouble | None]:
    """Return the move and the trouble that a ticket begins with, by the states of the debtor's copies.

    If every copy was refused, there is no debt, only an outcome to report. If the request was undeliverable, the answer
    is owed, and the ticket notes the trouble.
    """
    if all(state is DeliveryState.REFUSED for state in copies):
        return TicketMove.REFUSE, None
    if all(state in TERMINAL for state in copies):
        return None, Trouble.UNDELIVERABLE
    return None, None


def new_ticket(message: Message, debtor: AgentName, copies: Collection[DeliveryState], now: datetime) -> Ticket:
    """Return the debt of one recipient of a request."""
    move, trouble = opening(copies)
    ticket = Ticket(
        id=ticket_id(message.id, debtor),
        message_id=message.id,
        thread=message.thread,
        asker=message.sender.agent,
        debtor=debtor,
        state=TicketState.OPEN,
        opened_at=now,
        asker_session=message.sender.session,
        scope=message.scope,
        subject=message.subject,
        due_at=message.deadline,
        trouble=trouble,
    )
    return ticket if move is None else ticket_moved(ticket, move, now)


def ticket_at(ticket: Ticket, copies: Iterable[Delivery]) -> Ticket:
    """Return the ticket as it follows from these copies of its request: in trouble if they have expired, even if the
    expiry is not recorded yet."""
    states = [copy.state for copy in copies if copy.agent == ticket.debtor]
    has_expired = DeliveryState.EXPIRED in states and all(state in TERMINAL for state in states)
    return ticket._replace(trouble=Trouble.EXPIRED) if has_expired and may_get_trouble(ticket) else ticket


def may_get_trouble(ticket: Ticket) -> bool:
    """Tell whether a ticket is unanswered and has no trouble yet."""
    return ticket.state is TicketState.OPEN and ticket.trouble is None
