"""The rows of deliveries."""

from collections.abc import Mapping
from typing import Final

from covey.adapters.sqlite.connection import Row
from covey.adapters.sqlite.values import to_instant, to_instant_or_none, to_text
from covey.core.delivery import Delivery, DeliveryState
from covey.core.evidence import EvidenceGrade
from covey.core.ids import DeliveryId
from covey.core.message import Kind

# Inboxes are read in bulk: a look into a dict costs a third of a call of the enum.
_STATES: Final[Mapping[str, DeliveryState]] = {state.value: state for state in DeliveryState}
_KINDS: Final[Mapping[str, Kind]] = {kind.value: kind for kind in Kind}
_GRADES: Final[Mapping[str | None, EvidenceGrade | None]] = {None: None} | {
    grade.value: grade for grade in EvidenceGrade
}
_SEQ: Final = Delivery._fields.index("seq")


def split_id(delivery_id: DeliveryId) -> tuple[str, str]:
    """Return the message and the copy that an id names; SQLite makes a number of the copy where it is one."""
    message_id, _, copy = delivery_id.rpartition(".")
    return message_id, copy


def encode_delivery(delivery: Delivery) -> Row:
    """Return all columns but seq and inbox, which only placing changes; the two of the id come last."""
    (
        delivery_id,
        _message_id,
        _inbox,
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
    ) = delivery
    message_id, _, copy = delivery_id.rpartition(".")
    return (
        agent,
        state,
        kind,
        sender,
        expects_reply,
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
        message_id,
        copy,
    )


def placed(delivery: Delivery, seq: int) -> Delivery:
    """Return the delivery with its seq; `_replace` takes four times as long, and every send comes by here."""
    return Delivery._make((*delivery[:_SEQ], seq, *delivery[_SEQ + 1 :]))


def decode_delivery(row: Row) -> Delivery:
    """Return the delivery of a row."""
    (
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
    )
