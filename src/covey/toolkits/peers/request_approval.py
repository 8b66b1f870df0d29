"""request_approval: ask a peer to approve something, and wait a while for its decision."""

from typing import Final

from covey.core.address import Address, AddressKind
from covey.core.errors import Invalid
from covey.core.json import Json
from covey.core.ledger.draft import Draft
from covey.core.ledger.message import Kind, TextPart
from covey.core.text.escape import harmless
from covey.core.work.approval import Approval, ApprovalState, parse_approval_name
from covey.services.mail.recipients import SendPolicy
from covey.toolkits.answers import as_json
from covey.toolkits.arguments import LONGEST_WAIT, given_seconds, given_text
from covey.toolkits.leading import led
from covey.toolkits.others import other_agent
from covey.toolkits.references import given_ticket, standing
from covey.toolkits.tool import Answer, Arguments, Caller, Form, Parameter, Tool


async def _run(caller: Caller, arguments: Arguments) -> Answer:
    seconds = given_seconds(arguments, "wait", LONGEST_WAIT)
    ticket, to, what, text = (given_text(arguments, name) for name in ("ticket", "to", "kind", "message"))
    approvals = caller.services.approvals
    if ticket is not None:
        if to is not None or text is not None:
            raise Invalid("ticket", ticket, "the approval was asked for already: give the ticket alone, to wait on")
        parsed = given_ticket(ticket, REQUEST_APPROVAL.name)
        return await _answer(caller, await approvals.resume(parsed, caller.identity, seconds))
    if to is None or text is None:
        missing = "to" if to is None else "message"
        raise Invalid(missing, None, "say whom you ask (to) and what to approve (message), or give a ticket to wait on")
    name = parse_approval_name(what or "plan")
    peer = Address(AddressKind.AGENT, await other_agent(caller, to, "to"))
    draft = await led(caller, Draft(Kind.REQUEST, (peer,), (TextPart(text),), expects_reply=True))
    return await _answer(caller, await approvals.request(draft, name, caller.identity, SendPolicy(), seconds))


async def _answer(caller: Caller, approval: Approval) -> Answer:
    """Return the decision. The wait is short, because clients give up on a long call; after a timeout the answer says
    how to resume."""
    ticket = approval.ticket
    data: dict[str, Json] = {"decision": str(approval.state), "by": ticket.debtor, "ticket": ticket.id}
    if approval.state is ApprovalState.WAITING:
        how = f'to wait on, call {REQUEST_APPROVAL.name}(ticket="{ticket.id}")'
        note = f"{ticket.debtor} {await standing(caller, ticket)}. You are not approved yet; {how}."
        return as_json({**data, "note": note})
    reason = harmless(approval.reason)
    return as_json({**data, "reason": reason}, is_error=approval.state is ApprovalState.FAILED)


REQUEST_APPROVAL: Final = Tool(
    name="request_approval",
    description=(
        "Ask a peer to approve something before you do it, such as a plan or a shutdown, and wait up to "
        f"{LONGEST_WAIT:.0f} seconds. Go on only if decision is approved; if it is rejected, reason says why. "
        "Without a decision yet you get a ticket: call again with it alone, to keep waiting."
    ),
    parameters=(
        Parameter("to", "agent_id of the peer who decides"),
        Parameter("message", "what to approve: all that the peer needs to know"),
        Parameter("kind", "plan (default), shutdown, or another word"),
        Parameter("ticket", "alone: keep waiting for the decision on an earlier request"),
        Parameter("wait", f"seconds, 0 to {LONGEST_WAIT:.0f}", Form.NUMBER),
    ),
    run=_run,
)
