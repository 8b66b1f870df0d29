"""Parts of a mailbox message, as a model writes them: text, data, and files, which are stored as snapshots."""

from typing import Final

from covey.core.errors import Invalid
from covey.core.json import Json, JsonObject
from covey.core.ledger.message import Callback, DataPart, Part, TextPart
from covey.core.ledger.wire import more_of
from covey.core.plain import plain
from covey.core.text.wording import closest
from covey.services.mail.attachments import Attachments

FIELDS: Final = {"text": "text", "data": "data", "file": "path"}
"""The types of parts, each with the field that holds its content."""

SCHEMA: Final[JsonObject] = {
    "type": "array",
    "items": {
        "type": "object",
        "properties": {
            "type": {"type": "string", "enum": list(FIELDS)},
            "text": {"type": "string"},
            "data": {"type": "object"},
            "path": {"type": "string"},
        },
        "required": ["type"],
    },
}


def read_callback(written: Json) -> Callback:
    """Parse the conversation that a result belongs to, as a model writes it."""
    fields = written if isinstance(written, dict) else {}
    channel, session_id = fields.get("channel"), fields.get("session_id")
    if not isinstance(channel, str) or not isinstance(session_id, str) or not channel or not session_id:
        raise Invalid("callback", written, "use an object with channel and session_id, both texts")
    return Callback(channel, session_id, more_of({name: plain(value, "callback") for name, value in fields.items()}))


async def read_part(written: Json, attachments: Attachments) -> Part:
    """Parse a part that a model wrote. A file is stored as a snapshot of its present content."""
    if not isinstance(written, dict):
        raise Invalid("part", written, 'use an object such as {"type": "text", "text": "…"}')
    kind = written.get("type")
    field = FIELDS.get(str(kind))
    if field is None:
        near = closest(str(kind), FIELDS)
        raise Invalid("part type", kind, f"use {' or '.join(near or FIELDS)}")
    if field not in written:
        raise Invalid(f"{kind} part", written, f'it needs "{field}"')
    content = written[field]
    if field == "data":
        return DataPart(plain(content, "data"))
    if not isinstance(content, str):
        raise Invalid(field, content, "use a text")
    return TextPart(content) if field == "text" else await attachments.snapshot(content)
