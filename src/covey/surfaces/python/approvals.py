"""Approvals in the Python API: requests for a decision, and decisions."""

from covey.core.checks import note, seconds
from covey.core.identity import Identity
from covey.core.ids import parse_message_id
from covey.core.ledger.message import Kind
from covey.core.work.approval import Approval, Decision, parse_approval_name
from covey.services.space import Services
from covey.surfaces.python.options import MessageOptions, draft_from, policy_from
from covey.surfaces.python.receipt import Receipt


async def request_approval(
    services: Services, actor: Identity, to: str, what: str, text: str, timeout: float, options: MessageOptions
) -> Approval:
    """Ask an agent for an approval and wait for its decision."""
    name = parse_approval_name(what)
    draft = draft_from(Kind.REQUEST, to, text, options, services.clock, expects_reply=True)
    return await services.approvals.request(draft, name, actor, policy_from(options), seconds(timeout, "timeout"))


async def decide(services: Services, actor: Identity, message_id: str, approve: bool, reason: str) -> Receipt:
    """Approve or reject the request for approval in a message."""
    decision = Decision(approve, note(reason, "reason"))
    record = await services.approvals.decide(parse_message_id(message_id), actor, decision)
    return Receipt(record, services.mail)
