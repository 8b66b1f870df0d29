"""Messages and deliveries as JSON documents, with one shape for each."""

from collections.abc import Mapping
from typing import Final

from covey.core.json import Json
from covey.core.ledger.delivery import DeliveryRecord
from covey.core.ledger.message import Message
from covey.core.ledger.wire import FIELDS, encode_object
from covey.core.times import format_instant

_ABSENT: Final[Mapping[str, Json]] = {**dict.fromkeys(FIELDS), "metadata": {}, "depth": 0, "marks": {}}
"""The values of the fields that the wire form leaves out."""


def message_document(message: Message) -> dict[str, Json]:
    """Return a message: all fields of its wire form but the version.

    The sender's fields stand beside the others, with the text of all parts. Every key is always present.
    """
    sender, wire = message.sender, encode_object(message)
    del wire["v"]
    return {
        **_ABSENT,
        "thread": message.thread,
        "root": message.root,
        **wire,
        "from": sender.agent,
        "from_session": sender.session,
        "grade": str(sender.grade),
        "text": message.text,
    }


def delivery_document(delivery: DeliveryRecord) -> dict[str, Json]:
    """Return a delivery: its place, state and evidence.

    `shown` is the number of characters that the session's model was shown with evidence, and `length` the number of
    all.
    """
    return {
        "delivery": delivery.id,
        "agent": delivery.agent,
        "session": delivery.session,
        "parked": delivery.is_parked,
        "number": delivery.number,
        "state": str(delivery.state),
        "evidence": str(delivery.grade) if delivery.grade else None,
        "shown": delivery.seen.shown if delivery.seen else None,
        "length": delivery.seen.length if delivery.seen else None,
        "reason": delivery.reason,
        "offer": delivery.offer,
        "lease_until": format_instant(delivery.lease_until) if delivery.lease_until else None,
        "archived_at": format_instant(delivery.archived_at) if delivery.archived_at else None,
        "updated_at": format_instant(delivery.updated_at),
    }
