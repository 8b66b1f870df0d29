"""The rows of deliveries."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from covey.adapters.sqlite.engine.access import Access
from covey.adapters.sqlite.engine.connection import Row
from covey.adapters.sqlite.engine.statements import statements
from covey.adapters.sqlite.records.values import (
    WRONG,
    from_json,
    of_values,
    record_of,
    to_instant,
    to_instant_or_none,
    to_text,
)
from covey.core.errors import RecordDamaged
from covey.core.ids import DeliveryId
from covey.core.json import to_json
from covey.core.ledger.delivery import Delivery, DeliveryState
from covey.core.ledger.evidence import EvidenceGrade, parse_seen
from covey.core.ledger.message import Kind

# Inboxes are read in bulk, and a dict lookup costs a third of a call of the enum.
_STATES: Final[Mapping[str, DeliveryState]] = {state.value: state for state in DeliveryState}
_KINDS: Final[Mapping[str, Kind]] = {kind.value: kind for kind in Kind}
_GRADES: Final[Mapping[str | None, EvidenceGrade | None]] = {None: None} | {
    grade.value: grade for grade in EvidenceGrade
}
_AT: Final = statements("deliveries")["at"]
_SEQ: Final = Delivery._fields.index("seq")


def split_id(delivery_id: DeliveryId) -> tuple[str, str]:
    """Return the message id and the copy number of a delivery id. SQLite converts the copy to a number if it is one."""
    message_id, _, copy = delivery_id.rpartition(".")
    return message_id, copy


def encode_delivery(delivery: Delivery) -> Row:
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
    return (of_values((message_id, copy, inbox, *values)), *values, message_id, copy)


def placed(delivery: Delivery, seq: int) -> Delivery:
    """Return the delivery with its seq. `_replace` takes four times as long, and every send runs this code."""
    return Delivery._make((*delivery[:_SEQ], seq, *delivery[_SEQ + 1 :]))


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


def readable(rows: Iterable[Row]) -> list[Delivery]:
    """Return the deliveries of rows, without the damaged ones: their recipient is unknown."""
    found: list[Delivery] = []
    for row in rows:
        try:
            found.append(decode_delivery(row))
        except RecordDamaged:
            continue
    return found


@record_of("deliveries")
def decode_delivery(row: Row) -> Delivery:
    """Return the delivery of a row. Raise RecordDamaged if the row is not as it was written."""
    checksum = row[0]
    if checksum is not None and of_values(row[2:]) != checksum:
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
    return Delivery(
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
