"""Messages that were read lately: what is read again and again is taken apart once."""

from typing import Final

from covey.adapters.sqlite.checksums import decode_document
from covey.core.errors import MessageDamaged
from covey.core.message import Message
from covey.core.parts import DataPart

MAX_RECENT: Final = 256
MAX_LENGTH: Final = 4096
"""Longer documents are not remembered, so that the memory is small."""

_recent: dict[bytes, Message] = {}


def decode_recent(message_id: str, document: bytes, checksum: int | None) -> Message:
    """Return the message of a document; MessageDamaged where it is not the one that was filed. A document stands for
    one message for ever, so what was made of it before is as good; only not where a reader could change it."""
    known = _recent.get(document)
    if known is None:
        known = decode_document(message_id, document, checksum)
        remember(document, known)
    elif known.id != message_id:
        raise MessageDamaged(message_id, f"it is filed with the document of {known.id}")
    return known


def remember(document: bytes, message: Message) -> None:
    """Note what a document stands for: it will be read soon."""
    if len(document) <= MAX_LENGTH and not message.metadata and not _has_data(message):
        if len(_recent) >= MAX_RECENT:
            _recent.clear()
        _recent[document] = message


def _has_data(message: Message) -> bool:
    return any(isinstance(part, DataPart) for part in message.parts)
