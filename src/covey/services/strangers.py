"""Strangers: sessions that nobody here knows, and that may listen on the peers' wire."""

import json

from covey.core.errors import Unavailable
from covey.core.ids import SessionId
from covey.core.message import Message
from covey.core.names import AgentName
from covey.core.peers import MAX_BODY_BYTES, inbox_message
from covey.ports.wire import Wire
from covey.services.warning import debug, warn


async def tell_stranger(wire: Wire, message: Message, session_id: SessionId) -> None:
    """Publish a message to an inbox. Its agent is not known here, so that the session's id stands for it."""
    payload = inbox_message(message, AgentName(session_id))
    if len(str(payload["body"]).encode()) > MAX_BODY_BYTES:
        debug("message %s is too large for the peers' wire", message.id)
        return
    try:
        await wire.tell(session_id, json.dumps(payload, ensure_ascii=False).encode(), message.id)
    except Unavailable as error:
        warn("message %s could not be published to %s: %s", message.id, session_id, error.message)
