"""Consistency of the records: the accounts that are compared with the journal, and the rules that hold whatever the
journal says."""

from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import NamedTuple

from covey.core.channels.post import Post, PostState
from covey.core.directory.session import Session
from covey.core.ledger.delivery import WAITING, DeliveryRecord, DeliveryState
from covey.core.ledger.message import Kind, Message
from covey.core.ledger.offer import EvidenceGrade, Offer, SeenParts
from covey.core.ledger.ticket import Ticket, TicketMove, TicketState, TicketTrouble
from covey.core.names import AgentName, InboxId, MessageId, SessionId, TicketId, delivery_id, ticket_id
from covey.core.work.task import Task, TaskState


class DeliveryAccount(NamedTuple):
    message_id: MessageId
    inbox: InboxId
    agent: AgentName | None
    state: DeliveryState
    grade: EvidenceGrade | None = None
    is_archived: bool = False
    seen: SeenParts | None = None


class TicketAccount(NamedTuple):
    state: TicketState
    close_reason: TicketMove | None = None
    answer: MessageId | None = None
    trouble: TicketTrouble | None = None
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


def delivery_account(record: DeliveryRecord) -> DeliveryAccount:
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
        return f"{self.what} of {self.id}: expected {self.expected}, found {self.found}"


def differing(what: str, id: str, expected: object, found: object) -> tuple[Disagreement, ...]:  # noqa: A002
    """Return an empty tuple if the two values are equal, else one disagreement."""
    return () if expected == found else (Disagreement(what, id, str(expected), str(found)),)


def delivery_faults(delivery: DeliveryRecord, message: Message, offer: Offer | None) -> Iterator[Disagreement]:
    """Check one delivery against its message and the offer that it names."""
    said = (message.id, message.kind, message.sender.agent, message.expects_reply, message.scope, message.subject)
    kept = (
        delivery.message_id,
        delivery.kind,
        delivery.sender,
        delivery.expects_reply,
        delivery.scope,
        delivery.subject,
    )
    yield from differing("delivery's message", delivery.id, said, kept)
    if delivery.state is DeliveryState.ACCEPTED:
        yield Disagreement("delivery state", delivery.id, "a later state", delivery.state)
    if delivery.state is DeliveryState.IN_CONTEXT and delivery.grade is None:
        yield Disagreement("evidence", delivery.id, "a grade of evidence", "none")
    if delivery.state is DeliveryState.IN_CONTEXT and delivery.is_partly_seen:
        yield Disagreement("evidence", delivery.id, "evidence for the whole message", str(delivery.seen))
    if delivery.archived_at is not None and not delivery.is_terminal:
        yield Disagreement("archive", delivery.id, "a final state, because it is archived", delivery.state)
    if delivery.agent is not None and delivery.has_arrived and delivery.number < 1:
        yield Disagreement("number", delivery.id, "at least 1", str(delivery.number))
    yield from _offer_faults(delivery, offer)


def _offer_faults(delivery: DeliveryRecord, offer: Offer | None) -> Iterator[Disagreement]:
    """Check that an offered delivery is held by a live offer to its session, with a lease, and any other by none."""
    if delivery.state is not DeliveryState.OFFERED:
        yield from differing("offer", delivery.id, (None, None), (delivery.offer, delivery.lease_until))
    elif offer is None or offer.ended_at is not None:
        yield Disagreement("offer", delivery.id, "an offer that has not ended", str(offer))
    else:
        yield from differing("offer's session", delivery.id, delivery.session, offer.session)
        yield from differing("lease", delivery.id, offer.lease_until, delivery.lease_until)
        if delivery.id not in offer.deliveries:
            yield Disagreement("offer", delivery.id, f"a place in offer {offer.id}", "none")


def copies_faults(message: Message, copies: Sequence[DeliveryRecord]) -> Iterator[Disagreement]:
    """Check the copies of one message against each other: numbered without a gap, and no two in one inbox."""
    yield from differing(
        "deliveries", message.id, [delivery_id(message.id, n + 1) for n in range(len(copies))], [c.id for c in copies]
    )
    arrived = Counter(copy.inbox for copy in copies if copy.has_arrived)
    for inbox, count in arrived.items():
        yield from differing(f"copies in {inbox}", message.id, 1, count)


def debtors_faults(
    message: Message, copies: Sequence[DeliveryRecord], tickets: Sequence[Ticket]
) -> Iterator[Disagreement]:
    """Check that a request that expects a reply has one ticket for each recipient agent, and any other message none."""
    debtors = sorted({copy.agent for copy in copies if copy.agent is not None}) if message.expects_reply else []
    expected = [ticket_id(message.id, debtor) for debtor in debtors]
    yield from differing("tickets", message.id, expected, [ticket.id for ticket in tickets])


def ticket_faults(
    ticket: Ticket, request: Message, answer: Message | None, awaited: Ticket | None
) -> Iterator[Disagreement]:
    """Check one ticket against its request, its answer and the question back that it awaits."""
    said = (request.id, request.thread, request.sender.agent, request.scope, request.subject)
    kept = (ticket.message_id, ticket.thread, ticket.asker, ticket.scope, ticket.subject)
    yield from differing("ticket's request", ticket.id, said, kept)
    is_closed = ticket.state is TicketState.CLOSED
    yield from differing(
        "closing", ticket.id, (is_closed, is_closed), (ticket.close_reason is not None, ticket.closed_at is not None)
    )
    if ticket.state is TicketState.ANSWERED and ticket.answer is None:
        yield Disagreement("answer", ticket.id, "one", "none")
    if ticket.state is TicketState.OPEN and ticket.answer is not None:
        yield Disagreement("answer", ticket.id, "none while it is open", ticket.answer)
    if ticket.answer is not None:
        yield from _answer_faults(ticket, answer)
    if ticket.awaits is not None and (awaited is None or awaited.state is not TicketState.OPEN or is_closed):
        yield Disagreement("question back", ticket.id, "an open ticket", str(awaited and awaited.state))


def _answer_faults(ticket: Ticket, answer: Message | None) -> Iterator[Disagreement]:
    if answer is None:
        yield Disagreement("answer", ticket.id, f"a message {ticket.answer}", "none")
        return
    expected = (Kind.RESPONSE, ticket.thread, ticket.message_id)
    yield from differing("answer", ticket.id, expected, (answer.kind, answer.thread, answer.in_reply_to))
    if answer.sender.agent != ticket.debtor and not answer.sender.is_operator:
        yield Disagreement("answer", ticket.id, f"a message from {ticket.debtor} or the operator", str(answer.sender))


Numbers = dict[tuple[AgentName, int], str]
"""For each agent and number, the message that has it."""


def number_faults(numbers: Numbers, copies: Sequence[DeliveryRecord]) -> Iterator[Disagreement]:
    """Check that no number of an agent stands for two messages; add the numbers of `copies` to `numbers`."""
    for copy in copies:
        if copy.agent is not None and copy.number:
            first = numbers.setdefault((copy.agent, copy.number), copy.message_id)
            yield from differing(f"number {copy.number} of {copy.agent}", copy.id, first, copy.message_id)


def task_faults(task: Task, message: Message, copies: Sequence[DeliveryRecord]) -> Iterator[Disagreement]:
    """Check one task against the message that handed it over, and against itself."""
    said = (message.id, Kind.TASK, message.sender.agent, message.scope, message.deadline)
    kept = (task.id, message.kind, task.delegator, task.scope, task.deadline)
    yield from differing("task's message", task.id, said, kept)
    if task.agent not in {copy.agent for copy in copies}:
        yield Disagreement("task's agent", task.id, "a recipient of its message", task.agent)
    yield from differing("finish", task.id, task.is_finished, task.finished_at is not None)
    is_free = task.claimed_by is None and task.abandoned_at is None
    if task.is_finished and not is_free:
        yield Disagreement("claim", task.id, "none on a finished task", str(task.claimed_by or task.abandoned_at))
    if task.claimed_by is not None and (task.attempt < 1 or task.abandoned_at is not None):
        yield Disagreement("claim", task.id, "an attempt of 1 or more, not abandoned", f"attempt {task.attempt}")
    if task.state is TaskState.PENDING and task.abandoned_at is not None:
        yield Disagreement("claim", task.id, "none abandoned before it is accepted", str(task.abandoned_at))
    if task.is_finished:
        left = [copy.id for copy in copies if copy.state in WAITING]
        yield from differing("waiting copies of a finished task", task.id, [], left)


def update_faults(task: Task, what: str, update: Message | None) -> Iterator[Disagreement]:
    """Check the update that reported the progress or the end of a task."""
    if update is None:
        yield Disagreement(what, task.id, "a message", "none")
        return
    told = update.task and update.task.id
    expected = (Kind.UPDATE, task.id, task.id)
    yield from differing(what, task.id, expected, (update.kind, update.in_reply_to, told))


def post_faults(post: Post, copy: DeliveryRecord) -> Iterator[Disagreement]:
    """Check one post against the delivery that it carries."""
    yield from differing("post's delivery", post.id, (copy.message_id, copy.agent), (post.message_id, post.channel))
    if post.state is PostState.DELIVERED and copy.state in WAITING:
        yield Disagreement("posted delivery", post.id, "a final state", copy.state)
    if post.state is not PostState.PENDING and (post.next_at is not None or post.holder is not None):
        yield Disagreement("post", post.id, "no holder and no next attempt", str(post.holder or post.next_at))
