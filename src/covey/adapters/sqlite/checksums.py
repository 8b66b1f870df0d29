"""Checksums of messages and deliveries: what was altered behind SQLite's back is found before it is shown.

SQLite checks the structure of its pages, not their content. A flipped bit in a text, or a value that another program
has changed, would otherwise be mail.
"""

from collections.abc import Sequence
from typing import Any, Final
from zlib import crc32

from covey.core.errors import CoveyError, MessageDamaged
from covey.core.message import Message
from covey.core.wire import decode

WRONG: Final = "its checksum is wrong"

_FORMS: Final = ["\x1f".join(["%s"] * length) for length in range(64)]


def of_document(document: bytes) -> int:
    """Return the checksum of a message's document."""
    return crc32(document)


def of_values(values: Sequence[Any]) -> int:
    """Return the checksum of the values of a row. Absent ones at its end do not count, so that a column that is added
    later leaves the checksums of older rows as they are."""
    length = len(values)
    while values[length - 1] is None:
        length -= 1
    return crc32((_FORMS[length] % tuple(values[:length])).encode())


def decode_document(message_id: str, document: bytes, checksum: int | None) -> Message:
    """Return the message of a document; MessageDamaged where the document is not the one that was filed."""
    if checksum is not None and of_document(document) != checksum:
        raise MessageDamaged(message_id, WRONG)
    try:
        message = decode(document)
    except CoveyError as error:
        raise MessageDamaged(message_id, error.message) from error
    if message.id != message_id:
        raise MessageDamaged(message_id, f"it is filed with the document of {message.id}")
    return message
