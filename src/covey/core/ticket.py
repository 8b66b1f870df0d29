"""The ticket: the debt of an answer that one agent owes another, and the table of its moves."""

from collections.abc import Mapping
from datetime import datetime
from enum import StrEnum
from typing import Final, NamedTuple

from covey.core.errors import IllegalMove
from covey.core.ids import MessageId, SessionId, TicketId
from covey.core.names import AgentName, Scope, Subject


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


class Trouble(StrEnum):
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
    trouble: Trouble | None = None
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
