"""The dialogue document: a message in the eleven fields that every messages-* verb uses, for agent loops."""

from covey.core.json import Json
from covey.core.message import Message
from covey.core.times import format_instant


def dialogue_document(message: Message) -> dict[str, Json]:
    """Return a message as the messages-* verbs write it."""
    return {
        "id": message.id,
        "from": message.sender.agent,
        "to": ", ".join(address.value for address in message.to),
        "phase": message.scope,
        "round": message.round,
        "kind": str(message.kind),
        "subject": message.subject,
        "body": message.text,
        "expects_reply": message.expects_reply,
        "in_reply_to": message.in_reply_to,
        "created_at": format_instant(message.created_at),
    }
