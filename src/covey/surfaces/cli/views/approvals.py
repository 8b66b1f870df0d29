"""Approvals, in the output of a command that asked for one."""

from collections.abc import Mapping
from typing import Final

from covey.core.errors import NotFound
from covey.core.ids import MessageId
from covey.core.json import Json
from covey.core.ledger.outcome import Outcome
from covey.core.work.approval import Approval, ApprovalState, approval_of, requested
from covey.surfaces.cli.call import Call
from covey.surfaces.cli.exits import DONE, REFUSED, REJECTED, UNAVAILABLE

EXITS: Final[Mapping[ApprovalState, int]] = {
    ApprovalState.APPROVED: DONE,
    ApprovalState.REJECTED: REJECTED,
    ApprovalState.WAITING: UNAVAILABLE,
    ApprovalState.FAILED: REFUSED,
}


def approval_in(call: Call, outcome: Outcome) -> Approval | None:
    """Return the approval that a question asked for, or None if it asked for none."""
    request = requested(call.run(call.services.mail.message(outcome.ticket.message_id)))
    return approval_of(request, outcome) if request else None


def approval_document(approval: Approval) -> dict[str, Json]:
    """Return an approval as a JSON document."""
    return {"decision": str(approval.state), "reason": approval.reason}


def wanted_approval(call: Call, message_id: MessageId) -> str | None:
    """Return the label of the approval that a request asks for, or None if it asks for none or can't be read."""
    try:
        request = requested(call.run(call.services.mail.message(message_id)))
    except NotFound:
        return None
    return request.label if request else None
