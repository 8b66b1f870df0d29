"""Outcomes for a caller: the receipt of a send with the state of each delivery, the outcome of an ask, and the verdict
of the gate, which checks that nothing in a scope is still owed."""

from collections.abc import Sequence
from enum import StrEnum
from typing import NamedTuple

from covey.core.errors import GateClosed
from covey.core.ledger.delivery import DeliveryRecord, DeliveryState
from covey.core.ledger.message import Message
from covey.core.ledger.offer import EvidenceGrade, at_least
from covey.core.ledger.ticket import Ticket, TicketMove, TicketState, TicketTrouble
from covey.core.names import AgentName, MessageId, Scope


class OutcomeKind(StrEnum):
    """The kinds of outcome of an ask."""

    REPLIED = "replied"
    DELIVERED_NO_REPLY = "delivered_no_reply"
    """The wait timed out. The debt stays open, and the late answer will arrive once, in the same thread."""
    UNDELIVERABLE = "undeliverable"
    REFUSED = "refused"
    EXPIRED = "expired"


class Outcome(NamedTuple):
    """The outcome of an ask. True only if the question was answered."""

    kind: OutcomeKind
    ticket: Ticket
    answer: Message | None = None
    reason: str = ""

    def __bool__(self) -> bool:
        """True only if the question was answered."""
        return self.kind is OutcomeKind.REPLIED

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
    if ticket.trouble in (TicketTrouble.UNDELIVERABLE, TicketTrouble.EVICTED):
        return OutcomeKind.UNDELIVERABLE
    if ticket.trouble is TicketTrouble.EXPIRED:
        return OutcomeKind.EXPIRED
    if ticket.state is TicketState.CLOSED:
        return OutcomeKind.DELIVERED_NO_REPLY
    return None


_ORDER = (DeliveryState.ACCEPTED, DeliveryState.QUEUED, DeliveryState.OFFERED, DeliveryState.IN_CONTEXT)


class ReceiptRecord(NamedTuple):
    """Proof of acceptance: the message is durable, and these are its deliveries now."""

    message_id: MessageId
    deliveries: tuple[DeliveryRecord, ...]

    @property
    def delivered(self) -> tuple[DeliveryRecord, ...]:
        """The copies that reached an inbox, whatever their state is now."""
        return tuple(d for d in self.deliveries if d.state not in (DeliveryState.REFUSED, DeliveryState.UNDELIVERABLE))

    @property
    def refused(self) -> tuple[DeliveryRecord, ...]:
        """The copies that were refused or undeliverable, each with its reason."""
        return tuple(d for d in self.deliveries if d.state in (DeliveryState.REFUSED, DeliveryState.UNDELIVERABLE))


class DeliveryProgress(NamedTuple):
    """The result of a wait on a receipt: a value, also if the wait timed out."""

    reached: bool
    receipt: ReceiptRecord


def reached(delivery: DeliveryRecord, state: DeliveryState, grade: EvidenceGrade) -> bool:
    """Tell whether a delivery has reached `state`. For in_context, it needs evidence of at least `grade`."""
    if state is DeliveryState.IN_CONTEXT:
        return at_least(delivery.grade, grade)
    if state in _ORDER and delivery.state in _ORDER:
        return _ORDER.index(delivery.state) >= _ORDER.index(state)
    if state in _ORDER:
        return delivery.state is DeliveryState.HANDLED
    return delivery.state is state


def progress(receipt: ReceiptRecord, state: DeliveryState, grade: EvidenceGrade) -> DeliveryProgress | None:
    """Return the outcome of waiting for `state`, or None while it is undecided.

    Reached: every recipient agent has a copy that reached the state. Failed: some recipient has only copies that ended
    in another state. A copy that gave way to another does not count.
    """
    by_agent: dict[AgentName | None, list[DeliveryRecord]] = {}
    for delivery in receipt.deliveries:
        if delivery.gave_way:
            continue
        by_agent.setdefault(delivery.agent, []).append(delivery)
    if all(any(reached(d, state, grade) for d in copies) for copies in by_agent.values()):
        return DeliveryProgress(True, receipt)
    if any(all(d.is_terminal and not reached(d, state, grade) for d in copies) for copies in by_agent.values()):
        return DeliveryProgress(False, receipt)
    return None


class Verdict(NamedTuple):
    """The result of the gate for a scope: passed, or the list of debts. True if the gate is passed."""

    scope: Scope
    owed: tuple[Ticket, ...]
    """Every ticket of the scope that is not closed, answered or not, oldest first."""
    forced: bool = False

    def __bool__(self) -> bool:
        """True if the gate is passed."""
        return self.passed

    @property
    def passed(self) -> bool:
        return self.forced or not self.owed

    @property
    def answered(self) -> tuple[Ticket, ...]:
        """The owed tickets that have an answer and only wait to be archived."""
        return tuple(ticket for ticket in self.owed if ticket.state is TicketState.ANSWERED)

    @property
    def subjects(self) -> tuple[str, ...]:
        """The subjects of the owed tickets, or their message ids if there is no subject; each once."""
        return tuple(dict.fromkeys(ticket.subject or ticket.message_id for ticket in self.owed))

    def check(self) -> None:
        """Raise GateClosed unless the gate is passed."""
        if not self.passed:
            raise GateClosed(self.scope, len(self.owed), self.subjects)


def verdict(scope: Scope, tickets: Sequence[Ticket], *, forced: bool = False) -> Verdict:
    """Return the verdict on a scope, given its tickets."""
    owed = tuple(t for t in tickets if t.scope == scope and t.state is not TicketState.CLOSED)
    return Verdict(scope, owed, forced)
