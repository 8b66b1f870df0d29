"""Messages that were read lately: what is read again and again is taken apart once."""

from typing import Final

from covey.core.message import Message
from covey.core.parts import DataPart
from covey.core.wire import decode

MAX_RECENT: Final = 256
MAX_LENGTH: Final = 4096
"""Longer documents are not remembered, so that the memory is small."""

_recent: dict[str, Message] = {}


def decode_recent(document: str) -> Message:
    """Return the message of a document. A document stands for one message for ever, so what was made of it before is
    as good; only not where a reader could change it."""
    known = _recent.get(document)
    if known is None:
        known = decode(document)
        remember(document, known)
    return known


def remember(document: str, message: Message) -> None:
    """Note what a document stands for: it will be read soon."""
    if len(document) <= MAX_LENGTH and not message.metadata and not _has_data(message):
        if len(_recent) >= MAX_RECENT:
            _recent.clear()
        _recent[document] = message


def _has_data(message: Message) -> bool:
    return any(isinstance(part, DataPart) for part in message.parts)
