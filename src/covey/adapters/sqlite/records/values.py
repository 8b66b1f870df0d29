"""Values between core and SQLite: instants and JSON as text, and checksums."""

import json
from collections.abc import Callable, Sequence
from datetime import datetime
from functools import wraps
from typing import Any, Final, TypeVar
from zlib import crc32

from covey.adapters.sqlite.engine.connection import Row
from covey.core.errors import CoveyError, MessageDamaged, RecordDamaged
from covey.core.ledger.message import Message
from covey.core.ledger.wire import decode
from covey.core.times import format_instant

from_json: Final = json.loads

to_instant: Final = datetime.fromisoformat
"""Parses an instant from the text that `to_text` writes."""

to_text: Final = format_instant


def to_text_or_null(at: datetime | None) -> str | None:
    return None if at is None else to_text(at)


def to_instant_or_none(text: str | None) -> datetime | None:
    return None if text is None else to_instant(text)


T = TypeVar("T")

Decode = Callable[[Row], T]


def record_of(table: str) -> Callable[[Decode[T]], Decode[T]]:
    """Return a decorator for the decoder of a table's rows. A row that Covey cannot have written raises
    RecordDamaged."""

    def decorate(decode: Decode[T]) -> Decode[T]:
        @wraps(decode)
        def decoded(row: Row) -> T:
            try:
                return decode(row)
            except (ValueError, LookupError, TypeError, AttributeError, ArithmeticError, CoveyError) as error:
                raise RecordDamaged(table, str(error) or type(error).__name__) from error

        return decoded

    return decorate


WRONG: Final = "its checksum is wrong"

_FORMS: Final = ["\x1f".join(["%s"] * length) for length in range(64)]


def of_document(document: bytes) -> int:
    """Return the checksum of a message's document."""
    return crc32(document)


def of_values(values: Sequence[Any]) -> int:
    """Return the checksum of the values of a row. Nulls at the end do not count, so that the checksums of old rows stay
    valid when a column is added."""
    length = len(values)
    while values[length - 1] is None:
        length -= 1
    return crc32((_FORMS[length] % tuple(values[:length])).encode())


def decode_document(message_id: str, document: bytes, checksum: int | None) -> Message:
    """Return the message of a document. Raise MessageDamaged if the document is not the one that was filed."""
    if checksum is not None and of_document(document) != checksum:
        raise MessageDamaged(message_id, WRONG)
    try:
        message = decode(document)
    except CoveyError as error:
        raise MessageDamaged(message_id, error.message) from error
    if message.id != message_id:
        raise MessageDamaged(message_id, f"it is filed with the document of {message.id}")
    return message
