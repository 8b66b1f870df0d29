"""Accounts: deliveries, tickets, tasks and sessions as the journal describes them, for comparison with the records."""

from datetime import datetime
from typing import NamedTuple

from covey.core.directory.session import Session
from covey.core.ids import InboxId, MessageId, SessionId, TicketId
from covey.core.ledger.delivery import Delivery, DeliveryState
from covey.core.ledger.evidence import EvidenceGrade, Seen
from covey.core.ledger.ticket import Ticket, TicketMove, TicketState, Trouble
from covey.core.names import AgentName
from covey.core.work.task import Task, TaskState


class DeliveryAccount(NamedTuple):
    message_id: MessageId
    inbox: InboxId
    agent: AgentName | None
    state: DeliveryState
    grade: EvidenceGrade | None = None
    is_archived: bool = False
    seen: Seen | None = None


class TicketAccount(NamedTuple):
    state: TicketState
    close_reason: TicketMove | None = None
    answer: MessageId | None = None
    trouble: Trouble | None = None
    awaits: TicketId | None = None


class TaskAccount(NamedTuple):
    state: TaskState
    claimed_by: SessionId | None = None
    attempt: int = 0
    abandoned_at: datetime | None = None
    reason: str | None = None
    progress: MessageId | None = None
    result: MessageId | None = None
    finished_at: datetime | None = None

    @property
    def is_untouched(self) -> bool:
        """True if nothing has happened to the task since it was handed over. Spaces that are older than task records
        have records only of tasks that were waiting."""
        return self.attempt == 0 and self.result is None


class SessionAccount(NamedTuple):
    agent: AgentName
    has_ended: bool = False


def delivery_account(record: Delivery) -> DeliveryAccount:
    """Return the account that the journal should give of a delivery."""
    return DeliveryAccount(
        record.message_id,
        record.inbox,
        record.agent,
        record.state,
        record.grade,
        record.archived_at is not None,
        record.seen,
    )


def ticket_account(record: Ticket) -> TicketAccount:
    """Return the account that the journal should give of a ticket."""
    return TicketAccount(record.state, record.close_reason, record.answer, record.trouble, record.awaits)


def task_account(record: Task) -> TaskAccount:
    """Return the account that the journal should give of a task. It leaves out whether the delegator was told that the
    task is abandoned."""
    return TaskAccount(
        record.state,
        record.claimed_by,
        record.attempt,
        record.abandoned_at,
        record.reason,
        record.progress,
        record.result,
        record.finished_at,
    )


def session_account(record: Session) -> SessionAccount:
    """Return the account that the journal should give of a session."""
    return SessionAccount(record.agent, record.has_ended)


class Disagreement(NamedTuple):
    what: str
    """The name of the disputed fact, such as `delivery state`."""
    id: str
    """The id of the delivery, ticket, message, session, inbox or event."""
    expected: str
    """The value that follows from the journal or the rule."""
    found: str
    """The value in the records."""

    def __str__(self) -> str:
        return f"{self.what} of {self.id}: {self.expected} expected, {self.found} found"


def differing(what: str, id: str, expected: object, found: object) -> tuple[Disagreement, ...]:  # noqa: A002
    """Return an empty tuple if the two values are equal, else one disagreement."""
    return () if expected == found else (Disagreement(what, id, str(expected), str(found)),)
