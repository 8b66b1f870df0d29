"""Consistency: rules that the records must satisfy, whatever the journal says."""

from collections import Counter
from collections.abc import Iterator, Sequence

from covey.core.delivery import Delivery, DeliveryState
from covey.core.disagreement import Disagreement, differing
from covey.core.ids import delivery_id, ticket_id
from covey.core.message import Kind, Message
from covey.core.names import AgentName
from covey.core.offer import Offer
from covey.core.ticket import Ticket, TicketState


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
