"""Replies: a response to whoever sent a message, in its thread."""

from covey.core.identity import Identity
from covey.core.message import Kind
from covey.services.space import Services
from covey.surfaces.python.options import MessageOptions, draft_from, policy_from
from covey.surfaces.python.receipt import Receipt


async def reply_to(
    services: Services, actor: Identity, message_id: str, text: str, options: MessageOptions, *, close: bool
) -> Receipt:
    """Send a response to a message; it goes to its sender."""
    draft = draft_from(Kind.RESPONSE, (), text, options, services.clock, in_reply_to=message_id)
    record = await services.mail.send(draft, actor, policy_from(options, closes=close))
    return Receipt(record, services.mail)
