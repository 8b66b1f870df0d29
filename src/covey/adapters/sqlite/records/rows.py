"""Rows: the values of core in SQLite, checksums, and the rows of deliveries."""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from functools import wraps
from typing import Any, Final, TypeVar
from zlib import crc32

from covey.adapters.sqlite.engine.access import Access, statements
from covey.adapters.sqlite.engine.connection import Row
from covey.core.errors import CoveyError, MessageDamaged, RecordDamaged
from covey.core.json import to_json
from covey.core.ledger.delivery import DeliveryRecord, DeliveryState
from covey.core.ledger.message import Kind, Message
from covey.core.ledger.offer import EvidenceGrade, parse_seen
from covey.core.ledger.wire import decode
from covey.core.names import DeliveryId
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


def document_checksum(document: bytes) -> int:
    """Return the checksum of a message's document."""
    return crc32(document)


def row_checksum(values: Sequence[Any]) -> int:
    """Return the checksum of the values of a row. Nulls at the end do not count, so that the checksums of old rows stay
    valid when a column is added."""
    length = len(values)
    while values[length - 1] is None:
        length -= 1
    return crc32((_FORMS[length] % tuple(values[:length])).encode())


def decode_document(message_id: str, document: bytes, checksum: int | None) -> Message:
    """Return the message of a document. Raise MessageDamaged if the document is not the one that was filed."""
    if checksum is not None and document_checksum(document) != checksum:
        raise MessageDamaged(message_id, WRONG)
    try:
        message = decode(document)
    except CoveyError as error:
        raise MessageDamaged(message_id, error.message) from error
    if message.id != message_id:
        raise MessageDamaged(message_id, f"its record has the document of {message.id}")
    return message


# Inboxes are read in bulk, and a dict lookup costs a third of a call of the enum.
_STATES: Final[Mapping[str, DeliveryState]] = {state.value: state for state in DeliveryState}
_KINDS: Final[Mapping[str, Kind]] = {kind.value: kind for kind in Kind}
_GRADES: Final[Mapping[str | None, EvidenceGrade | None]] = {None: None} | {
    grade.value: grade for grade in EvidenceGrade
}
_AT: Final = statements("deliveries")["at"]
_SEQ: Final = DeliveryRecord._fields.index("seq")


def split_id(delivery_id: DeliveryId) -> tuple[str, str]:
    """Return the message id and the copy number of a delivery id. SQLite converts the copy to a number if it is one."""
    message_id, _, copy = delivery_id.rpartition(".")
    return message_id, copy


def encode_delivery(delivery: DeliveryRecord) -> Row:
    """Return the checksum and all columns except seq and inbox, which only `place` changes. The two columns of the id
    come last."""
    (
        delivery_id,
        _message_id,
        inbox,
        agent,
        state,
        kind,
        sender,
        expects_reply,
        updated_at,
        _seq,
        number,
        scope,
        subject,
        expires_at,
        offer,
        lease_until,
        grade,
        reason,
        archived_at,
        seen,
    ) = delivery
    message_id, _, copy = delivery_id.rpartition(".")
    values = (
        agent,
        state,
        kind,
        sender,
        1 if expects_reply else 0,
        number,
        scope,
        subject,
        to_text(updated_at),
        None if expires_at is None else to_text(expires_at),
        offer,
        None if lease_until is None else to_text(lease_until),
        grade,
        reason,
        None if archived_at is None else to_text(archived_at),
        None if seen is None else to_json(seen),
    )
    return (row_checksum((message_id, copy, inbox, *values)), *values, message_id, copy)


def placed(delivery: DeliveryRecord, seq: int) -> DeliveryRecord:
    """Return the delivery with its seq. `_replace` takes four times as long, and every send runs this code."""
    return DeliveryRecord._make((*delivery[:_SEQ], seq, *delivery[_SEQ + 1 :]))


DELIVERY_COLUMNS: Final = [name.strip() for name in _AT.partition(" from ")[0].removeprefix("select").split(",")][2:]
"""The columns of a delivery that the checksum covers, in order: all except the checksum and the seq."""

SEQ: Final = 1
"""The index of the seq in a row."""


def delivery_rows(access: Access, statement: str, values: Row) -> Sequence[Row]:
    """Return the rows of a statement. The driver raises on text that is not UTF-8. Then each row is read alone, and an
    unreadable row has only a checksum that is wrong and its seq."""
    try:
        return list(access.read(statement, values))
    except UnicodeDecodeError:
        places: list[Row] = list(access.read(f"select seq from ({statement})", values))
        return [_row(access, seq) for (seq,) in places]


def _row(access: Access, seq: int) -> Row:
    try:
        return next(access.read(_AT, (seq,)))
    except UnicodeDecodeError:
        return (-1, seq)


def readable(rows: Iterable[Row]) -> list[DeliveryRecord]:
    """Return the deliveries of rows, without the damaged ones: their recipient is unknown."""
    found: list[DeliveryRecord] = []
    for row in rows:
        try:
            found.append(decode_delivery(row))
        except RecordDamaged:
            continue
    return found


@record_of("deliveries")
def decode_delivery(row: Row) -> DeliveryRecord:
    """Return the delivery of a row. Raise RecordDamaged if the row is not as it was written."""
    checksum = row[0]
    if checksum is not None and row_checksum(row[2:]) != checksum:
        raise ValueError(f"{row[2]}.{row[3]}: {WRONG}")
    (
        _,
        seq,
        message_id,
        copy,
        inbox,
        agent,
        state,
        kind,
        sender,
        expects_reply,
        number,
        scope,
        subject,
        updated_at,
        expires_at,
        offer,
        lease_until,
        grade,
        reason,
        archived_at,
        seen,
    ) = row
    return DeliveryRecord(
        DeliveryId(f"{message_id}.{copy}"),
        message_id,
        inbox,
        agent,
        _STATES[state],
        _KINDS[kind],
        sender,
        expects_reply == 1,
        to_instant(updated_at),
        seq,
        number,
        scope,
        subject,
        to_instant_or_none(expires_at),
        offer,
        to_instant_or_none(lease_until),
        _GRADES[grade],
        reason,
        to_instant_or_none(archived_at),
        None if seen is None else parse_seen(from_json(seen)),
    )
