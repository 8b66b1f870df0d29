"""The ticket: the debt of an answer that one agent owes another, and the table of its moves."""

from collections.abc import Collection, Iterable, Mapping
from datetime import datetime
from enum import StrEnum
from typing import Final, NamedTuple

from covey.core.errors import IllegalMove
from covey.core.ledger.delivery import TERMINAL, DeliveryRecord, DeliveryState
from covey.core.ledger.message import Message
from covey.core.names import AgentName, MessageId, Scope, SessionId, Subject, TicketId, ticket_id


class TicketState(StrEnum):
    OPEN = "open"
    ANSWERED = "answered"
    CLOSED = "closed"


class TicketMove(StrEnum):
    ANSWER = "answer"
    """A response of the debtor arrived."""
    ARCHIVE = "archive"
    """The debtor archived the request: it was answered, or in trouble and can't be answered any more."""
    WAIVE = "waive"
    """The asker or the operator no longer wants an answer."""
    FORCE = "force"
    """The gate was forced although the ticket was not closed."""
    WITHDRAW = "withdraw"
    """The request was withdrawn before it was shown."""
    REFUSE = "refuse"
    """The recipient's rules kept the request out: there never was a debt, only a refusal to report."""


_T = TicketState

TICKET_MOVES: Final[Mapping[TicketState, Mapping[TicketMove, TicketState]]] = {
    _T.OPEN: {
        TicketMove.ANSWER: _T.ANSWERED,
        TicketMove.ARCHIVE: _T.CLOSED,
        TicketMove.REFUSE: _T.CLOSED,
        TicketMove.WAIVE: _T.CLOSED,
        TicketMove.FORCE: _T.CLOSED,
        TicketMove.WITHDRAW: _T.CLOSED,
    },
    _T.ANSWERED: {TicketMove.ARCHIVE: _T.CLOSED, TicketMove.WAIVE: _T.CLOSED, TicketMove.FORCE: _T.CLOSED},
    _T.CLOSED: {},
}


class TicketTrouble(StrEnum):
    """The reason why an open ticket may never be answered. The answer stays owed."""

    EXPIRED = "expired"
    UNDELIVERABLE = "undeliverable"
    EVICTED = "evicted"


class Ticket(NamedTuple):
    id: TicketId
    message_id: MessageId
    thread: MessageId
    asker: AgentName
    debtor: AgentName
    state: TicketState
    opened_at: datetime
    asker_session: SessionId | None = None
    scope: Scope | None = None
    subject: Subject | None = None
    due_at: datetime | None = None
    answer: MessageId | None = None
    """The first response of the debtor."""
    trouble: TicketTrouble | None = None
    awaits: TicketId | None = None
    """The question back, in the same thread, that the asker has to answer first."""
    closed_at: datetime | None = None
    close_reason: TicketMove | None = None


def ticket_moved(ticket: Ticket, move: TicketMove, at: datetime) -> Ticket:
    """Return the ticket after `move`. Raise IllegalMove for a move that is not in the table."""
    state = TICKET_MOVES[ticket.state].get(move)
    if state is None:
        raise IllegalMove("ticket", ticket.state, move)
    if state is TicketState.CLOSED:
        return ticket._replace(state=state, closed_at=at, close_reason=move, awaits=None)
    return ticket._replace(state=state, awaits=None)


def opening(copies: Collection[DeliveryState]) -> tuple[TicketMove | None, TicketTrouble | None]:
    """Return the move and the trouble that a ticket begins with, by the states of the debtor's copies.

    If every copy was refused, there is no debt, only an outcome to report. If the request was undeliverable, the answer
    is owed, and the ticket notes the trouble.
    """
    if all(state is DeliveryState.REFUSED for state in copies):
        return TicketMove.REFUSE, None
    if all(state in TERMINAL for state in copies):
        return None, TicketTrouble.UNDELIVERABLE
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


def ticket_at(ticket: Ticket, copies: Iterable[DeliveryRecord]) -> Ticket:
    """Return the ticket as it follows from these copies of its request: in trouble if they have expired, even if the
    expiry is not recorded yet."""
    states = [copy.state for copy in copies if copy.agent == ticket.debtor]
    has_expired = DeliveryState.EXPIRED in states and all(state in TERMINAL for state in states)
    return ticket._replace(trouble=TicketTrouble.EXPIRED) if has_expired and may_get_trouble(ticket) else ticket


def may_get_trouble(ticket: Ticket) -> bool:
    """Tell whether a ticket is unanswered and has no trouble yet."""
    return ticket.state is TicketState.OPEN and ticket.trouble is None
