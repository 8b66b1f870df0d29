"""Accounts: deliveries, tickets and sessions as the journal has them, to be held against the records."""

from typing import NamedTuple

from covey.core.delivery import Delivery, DeliveryState
from covey.core.evidence import EvidenceGrade
from covey.core.ids import InboxId, MessageId, TicketId
from covey.core.names import AgentName
from covey.core.session import Session
from covey.core.ticket import Ticket, TicketMove, TicketState, Trouble


class DeliveryAccount(NamedTuple):
    message_id: MessageId
    inbox: InboxId
    agent: AgentName | None
    state: DeliveryState
    grade: EvidenceGrade | None = None
    is_archived: bool = False


class TicketAccount(NamedTuple):
    state: TicketState
    close_reason: TicketMove | None = None
    answer: MessageId | None = None
    trouble: Trouble | None = None
    awaits: TicketId | None = None


class SessionAccount(NamedTuple):
    agent: AgentName
    has_ended: bool = False


def delivery_account(record: Delivery) -> DeliveryAccount:
    """Return what the journal should say of a delivery."""
    return DeliveryAccount(
        record.message_id, record.inbox, record.agent, record.state, record.grade, record.archived_at is not None
    )


def ticket_account(record: Ticket) -> TicketAccount:
    """Return what the journal should say of a ticket."""
    return TicketAccount(record.state, record.close_reason, record.answer, record.trouble, record.awaits)


def session_account(record: Session) -> SessionAccount:
    """Return what the journal should say of a session."""
    return SessionAccount(record.agent, record.has_ended)
