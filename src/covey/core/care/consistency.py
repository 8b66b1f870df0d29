"""Consistency: rules that the records must satisfy, whatever the journal says."""

from collections import Counter
from collections.abc import Iterator, Sequence

from covey.core.care.account import Disagreement, differing
from covey.core.channels.post import Post, PostState
from covey.core.ids import delivery_id, ticket_id
from covey.core.ledger.delivery import WAITING, Delivery, DeliveryState
from covey.core.ledger.message import Kind, Message
from covey.core.ledger.offer import Offer
from covey.core.ledger.ticket import Ticket, TicketState
from covey.core.names import AgentName
from covey.core.work.task import Task, TaskState


def delivery_faults(delivery: Delivery, message: Message, offer: Offer | None) -> Iterator[Disagreement]:
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
        yield Disagreement("delivery state", delivery.id, "a state that it can rest in", delivery.state)
    if delivery.state is DeliveryState.IN_CONTEXT and delivery.grade is None:
        yield Disagreement("evidence", delivery.id, "a grade for what is in context", "none")
    if delivery.state is DeliveryState.IN_CONTEXT and delivery.is_partly_seen:
        yield Disagreement("evidence", delivery.id, "evidence for all of what is in context", str(delivery.seen))
    if delivery.archived_at is not None and not delivery.is_terminal:
        yield Disagreement("archive", delivery.id, "an end before it is archived", delivery.state)
    if delivery.agent is not None and delivery.has_arrived and delivery.number < 1:
        yield Disagreement("number", delivery.id, "at least 1", str(delivery.number))
    yield from _offer_faults(delivery, offer)


def _offer_faults(delivery: Delivery, offer: Offer | None) -> Iterator[Disagreement]:
    """Check that an offered delivery is held by a live offer to its session, with a lease, and any other by none."""
    if delivery.state is not DeliveryState.OFFERED:
        yield from differing("offer", delivery.id, (None, None), (delivery.offer, delivery.lease_until))
    elif offer is None or offer.ended_at is not None:
        yield Disagreement("offer", delivery.id, "one that has not ended", str(offer))
    else:
        yield from differing("offer's session", delivery.id, delivery.session, offer.session)
        yield from differing("lease", delivery.id, offer.lease_until, delivery.lease_until)
        if delivery.id not in offer.deliveries:
            yield Disagreement("offer", delivery.id, f"a place in offer {offer.id}", "none")


def copies_faults(message: Message, copies: Sequence[Delivery]) -> Iterator[Disagreement]:
    """Check the copies of one message against each other: numbered without a gap, and no two in one inbox."""
    yield from differing(
        "deliveries", message.id, [delivery_id(message.id, n + 1) for n in range(len(copies))], [c.id for c in copies]
    )
    arrived = Counter(copy.inbox for copy in copies if copy.has_arrived)
    for inbox, count in arrived.items():
        yield from differing(f"copies in {inbox}", message.id, 1, count)


def debtors_faults(message: Message, copies: Sequence[Delivery], tickets: Sequence[Ticket]) -> Iterator[Disagreement]:
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
        yield Disagreement("question back", ticket.id, "one that is open", str(awaited and awaited.state))


def _answer_faults(ticket: Ticket, answer: Message | None) -> Iterator[Disagreement]:
    if answer is None:
        yield Disagreement("answer", ticket.id, f"a message {ticket.answer}", "none")
        return
    expected = (Kind.RESPONSE, ticket.thread, ticket.message_id)
    yield from differing("answer", ticket.id, expected, (answer.kind, answer.thread, answer.in_reply_to))
    if answer.sender.agent != ticket.debtor and not answer.sender.is_operator:
        yield Disagreement("answer", ticket.id, f"one of {ticket.debtor} or the operator", str(answer.sender))


Numbers = dict[tuple[AgentName, int], str]
"""For each agent and number, the message that has it."""


def number_faults(numbers: Numbers, copies: Sequence[Delivery]) -> Iterator[Disagreement]:
    """Check that no number of an agent stands for two messages; add the numbers of `copies` to `numbers`."""
    for copy in copies:
        if copy.agent is not None and copy.number:
            first = numbers.setdefault((copy.agent, copy.number), copy.message_id)
            yield from differing(f"number {copy.number} of {copy.agent}", copy.id, first, copy.message_id)


def task_faults(task: Task, message: Message, copies: Sequence[Delivery]) -> Iterator[Disagreement]:
    """Check one task against the message that handed it over, and against itself."""
    said = (message.id, Kind.TASK, message.sender.agent, message.scope, message.deadline)
    kept = (task.id, message.kind, task.delegator, task.scope, task.deadline)
    yield from differing("task's message", task.id, said, kept)
    if task.agent not in {copy.agent for copy in copies}:
        yield Disagreement("task's agent", task.id, "one that its message is for", task.agent)
    yield from differing("finish", task.id, task.is_finished, task.finished_at is not None)
    is_free = task.claimed_by is None and task.abandoned_at is None
    if task.is_finished and not is_free:
        yield Disagreement("claim", task.id, "none on a finished task", str(task.claimed_by or task.abandoned_at))
    if task.claimed_by is not None and (task.attempt < 1 or task.abandoned_at is not None):
        yield Disagreement("claim", task.id, "one with a number, not abandoned", f"attempt {task.attempt}")
    if task.state is TaskState.PENDING and task.abandoned_at is not None:
        yield Disagreement("claim", task.id, "none abandoned before it is accepted", str(task.abandoned_at))
    if task.is_finished:
        left = [copy.id for copy in copies if copy.state in WAITING]
        yield from differing("finished task that still waits", task.id, [], left)


def update_faults(task: Task, what: str, update: Message | None) -> Iterator[Disagreement]:
    """Check the update that reported the progress or the end of a task."""
    if update is None:
        yield Disagreement(what, task.id, "a message", "none")
        return
    told = update.task and update.task.id
    expected = (Kind.UPDATE, task.id, task.id)
    yield from differing(what, task.id, expected, (update.kind, update.in_reply_to, told))


def post_faults(post: Post, copy: Delivery) -> Iterator[Disagreement]:
    """Check one post against the delivery that it carries."""
    yield from differing("post's delivery", post.id, (copy.message_id, copy.agent), (post.message_id, post.channel))
    if post.state is PostState.DELIVERED and copy.state in WAITING:
        yield Disagreement("posted delivery", post.id, "an end", copy.state)
    if post.state is not PostState.PENDING and (post.next_at is not None or post.holder is not None):
        yield Disagreement("post", post.id, "no holder and no next attempt", str(post.holder or post.next_at))
