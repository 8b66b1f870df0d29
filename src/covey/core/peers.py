"""The peers' wire, for programs that know nothing else: the subject of an inbox, the limits of a body, the payload."""

from typing import Final

from covey.core.approval import bare_text
from covey.core.ids import MessageId, SessionId
from covey.core.json import Json
from covey.core.message import Message
from covey.core.times import format_instant

INBOX_SUBJECT_PREFIX: Final = "agent.inbox"
"""An inbox is the subject agent.inbox.<session id>."""

MIN_BODY_CHARS: Final = 1
MAX_BODY_BYTES: Final = 64 * 1024
"""The size of the text as UTF-8."""


def inbox_subject(session_id: SessionId) -> str:
    """Return the subject of a session's inbox."""
    return f"{INBOX_SUBJECT_PREFIX}.{session_id}"


def inbox_message(message: Message, recipient: str) -> dict[str, Json]:
    """Return the payload of a message for one recipient. The field for the correlation id is left out if the message
    has none. The body of a request for approval, and of its answer, is JSON."""
    payload: dict[str, Json] = {
        "from_agent_id": message.sender.agent,
        "from_goal_id": message.sender.session or _own_uuid(message.id),
        "to_agent_id": recipient,
        "body": bare_text(message) or message.text,
        "sent_at": format_instant(message.created_at),
    }
    return payload if message.correlation_id is None else {**payload, "correlation_id": message.correlation_id}


def in_envelope(message: Message, topic: str, payload: dict[str, Json]) -> dict[str, Json]:
    """Return a payload in the envelope that some programs on the wire put around every message."""
    return {
        "id": _own_uuid(message.id),
        "timestamp": format_instant(message.created_at),
        "topic": topic,
        "source": message.sender.agent,
        "session_id": message.sender.session,
        "payload": payload,
    }


def _own_uuid(message_id: MessageId) -> str:
    """Return the uuid in a message's id, which is the same for every copy."""
    return message_id.partition("-")[2]
