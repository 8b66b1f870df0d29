"""Messages and deliveries as programs get them with --json: one shape for each, everywhere."""

from covey.core.delivery import Delivery
from covey.core.json import Json
from covey.core.marks import encode_marks
from covey.core.message import Message
from covey.core.times import format_instant
from covey.core.wire import encode_part


def message_document(message: Message) -> dict[str, Json]:
    """Return a message: the fields of its wire form, flat, with its text."""
    callback = message.callback
    return {
        "id": message.id,
        "kind": str(message.kind),
        "from": message.sender.agent,
        "from_session": message.sender.session,
        "grade": str(message.sender.grade),
        "to": [address.value for address in message.to],
        "subject": message.subject,
        "scope": message.scope,
        "round": message.round,
        "text": message.text,
        "parts": [encode_part(part) for part in message.parts],
        "expects_reply": message.expects_reply,
        "in_reply_to": message.in_reply_to,
        "thread": message.thread,
        "created_at": format_instant(message.created_at),
        "expires_at": format_instant(message.expires_at) if message.expires_at else None,
        "callback": {"channel": callback.channel, "session_id": callback.session_id} if callback else None,
        "metadata": message.metadata,
        "marks": {} if message.marks is None else encode_marks(message.marks),
    }


def delivery_document(delivery: Delivery) -> dict[str, Json]:
    """Return a delivery: where it is, how far it got, on what evidence; how many of its characters the model of its
    session was shown with evidence, and how many there are."""
    return {
        "delivery": delivery.id,
        "agent": delivery.agent,
        "session": delivery.session,
        "parked": delivery.is_parked,
        "number": delivery.number,
        "state": str(delivery.state),
        "evidence": str(delivery.grade) if delivery.grade else None,
        "shown": delivery.seen.shown if delivery.seen else None,
        "length": delivery.seen.length if delivery.seen else None,
        "reason": delivery.reason,
        "offer": delivery.offer,
        "archived_at": format_instant(delivery.archived_at) if delivery.archived_at else None,
        "updated_at": format_instant(delivery.updated_at),
    }
