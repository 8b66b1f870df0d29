"""The exchange: the result of a message to a session."""

from enum import StrEnum
from typing import NamedTuple

from covey.core.directory.session import Session
from covey.core.ids import MessageId, TicketId
from covey.core.ledger.message import Message
from covey.core.work.negotiation import Ending


class ExchangeState(StrEnum):
    REPLIED = "ok"
    """The other side sent a message: it is the reply."""
    DELIVERED = "delivered"
    """Nothing was waited for."""
    NO_REPLY_YET = "delivered_no_reply"
    """The wait timed out. The ticket stays open; a late reply arrives once, in the same thread."""
    ENDED = "ended"
    """The negotiation is over, or there was none."""
    FAILED = "failed"
    """There will be no reply; `reason` gives the cause."""


class Exchange(NamedTuple):
    """The result of a message to a session."""

    state: ExchangeState
    session: Session
    """The other side."""
    message_id: MessageId | None = None
    """The id of the message that was sent."""
    round: int | None = None
    """None if the message is not part of a negotiation."""
    limit: int | None = None
    reply: Message | None = None
    is_question: bool = False
    """True if the reply is a question back, whose answer is owed now."""
    ticket: TicketId | None = None
    ending: Ending | None = None
    reason: str = ""
