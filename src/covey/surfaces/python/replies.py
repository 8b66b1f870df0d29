"""Replies: responses to the sender of a message, in its thread."""

from covey.core.checks import flag
from covey.core.identity import Identity
from covey.core.ids import parse_message_id
from covey.core.ledger.message import Kind
from covey.services.space import Services
from covey.surfaces.python.options import MessageOptions, draft_from, policy_from
from covey.surfaces.python.receipt import Receipt


async def reply_to(
    services: Services, actor: Identity, message_id: str, text: str, options: MessageOptions, *, close: bool
) -> Receipt:
    """Send a response to the sender of a message."""
    answered = parse_message_id(message_id)
    draft = draft_from(Kind.RESPONSE, (), text, options, services.clock, in_reply_to=answered)
    record = await services.mail.send(draft, actor, policy_from(options, closes=flag(close, "close")))
    return Receipt(record, services.mail)
