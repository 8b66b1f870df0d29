"""The outcome of a request for approval: always a value, always with its ticket, and true only if approved."""

from enum import StrEnum
from typing import NamedTuple

from covey.core.approval import ApprovalRequest, read_decision
from covey.core.errors import Invalid
from covey.core.message import Message
from covey.core.outcome import Outcome, OutcomeKind, settled_outcome
from covey.core.ticket import Ticket


class ApprovalState(StrEnum):
    APPROVED = "approved"
    REJECTED = "rejected"
    WAITING = "waiting"
    """The wait timed out. The request stays open, and the late decision will arrive once, in the same thread."""
    FAILED = "failed"
    """There will be no decision: refused, undeliverable, expired or closed; the reason says which."""


class Approval(NamedTuple):
    state: ApprovalState
    ticket: Ticket
    reason: str = ""
    """The reason of the decision, or the cause of the failure."""
    answer: Message | None = None

    def __bool__(self) -> bool:
        """True only if the request was approved, so that `if approval:` lets nothing else pass."""
        return self.state is ApprovalState.APPROVED


def approval_of(request: ApprovalRequest, outcome: Outcome) -> Approval:
    """Return the approval that follows from the outcome of an ask. An answer without a decision is no approval."""
    ticket, answer = outcome.ticket, outcome.answer
    if answer is not None:
        try:
            decision = read_decision(request, answer.parts)
        except Invalid as fault:
            return Approval(ApprovalState.FAILED, ticket, f"answered with a wrong decision: {fault.message}", answer)
        if decision is None:
            return Approval(ApprovalState.FAILED, ticket, "answered without a decision", answer)
        return Approval(ApprovalState(decision.word), ticket, decision.reason, answer)
    if settled_outcome(ticket) is None:
        return Approval(ApprovalState.WAITING, ticket, outcome.reason)
    if outcome.kind is OutcomeKind.DELIVERED_NO_REPLY:
        return Approval(ApprovalState.FAILED, ticket, f"closed without a decision ({ticket.close_reason})")
    return Approval(ApprovalState.FAILED, ticket, outcome.reason or str(outcome.kind))
