"""The exchange: what came of saying something to a session."""

from enum import StrEnum
from typing import NamedTuple

from covey.core.ids import MessageId, TicketId
from covey.core.message import Message
from covey.core.negotiation import Ending
from covey.core.session import Session


class ExchangeState(StrEnum):
    REPLIED = "ok"
    """The other side has said something: it is the reply."""
    DELIVERED = "delivered"
    """Nothing was waited for."""
    NO_REPLY_YET = "delivered_no_reply"
    """The wait ran out. The ticket waits on; the late reply arrives once, in the same thread."""
    ENDED = "ended"
    """The negotiation is over, or there was none."""
    FAILED = "failed"
    """There will be no reply: the reason says why."""


class Exchange(NamedTuple):
    """What came of saying something to a session."""

    state: ExchangeState
    session: Session
    """The other side."""
    message_id: MessageId | None = None
    """What was said."""
    round: int | None = None
    """None where it is no part of a negotiation."""
    limit: int | None = None
    reply: Message | None = None
    is_question: bool = False
    """The reply is a question back, whose answer is owed now."""
    ticket: TicketId | None = None
    ending: Ending | None = None
    reason: str = ""
