"""The body of a message as a model reads it: its texts, its data, and a line about each file."""

from covey.core.json import to_json
from covey.core.ledger.message import DataPart, Message, Part, TextPart


def body_of(message: Message) -> str:
    """Return all parts of a message as text, separated by empty lines."""
    return "\n\n".join(_text(part) for part in message.parts)


def _text(part: Part) -> str:
    if isinstance(part, TextPart):
        return part.text
    if isinstance(part, DataPart):
        return to_json(part.data)
    return f"[file {part.name}, {part.size:,} bytes, {part.media_type}]"
