"""The outcome of an ask: always a value, always with its ticket."""

from enum import StrEnum
from typing import NamedTuple

from covey.core.ledger.message import Message
from covey.core.ledger.ticket import Ticket, TicketMove, TicketState, Trouble


class OutcomeKind(StrEnum):
    REPLIED = "replied"
    DELIVERED_NO_REPLY = "delivered_no_reply"
    """The wait timed out. The debt stays open, and the late answer will arrive once, in the same thread."""
    UNDELIVERABLE = "undeliverable"
    REFUSED = "refused"
    EXPIRED = "expired"


class Outcome(NamedTuple):
    kind: OutcomeKind
    ticket: Ticket
    answer: Message | None = None
    reason: str = ""

    @property
    def text(self) -> str:
        """The answer's text; empty if there is no answer."""
        return self.answer.text if self.answer else ""


def settled_outcome(ticket: Ticket) -> OutcomeKind | None:
    """Return the final outcome of the ask of `ticket`, or None while an answer may still come."""
    if ticket.answer is not None:
        return OutcomeKind.REPLIED
    if ticket.close_reason is TicketMove.REFUSE:
        return OutcomeKind.REFUSED
    if ticket.trouble in (Trouble.UNDELIVERABLE, Trouble.EVICTED):
        return OutcomeKind.UNDELIVERABLE
    if ticket.trouble is Trouble.EXPIRED:
        return OutcomeKind.EXPIRED
    if ticket.state is TicketState.CLOSED:
        return OutcomeKind.DELIVERED_NO_REPLY
    return None
