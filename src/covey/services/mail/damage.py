"""Damaged messages: they are never shown as mail, do not block other mail, and are reported to the operator."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime

import covey.ports as ports
from covey.core.errors import MessageDamaged
from covey.core.identity import THE_SPACE
from covey.core.ids import MessageId
from covey.core.ledger.delivery import Delivery
from covey.core.ledger.message import Kind, Message, TextPart
from covey.services.known import known_message


async def message_or_notice(tx: "ports.Transaction", message_id: MessageId, at: datetime) -> Message:
    """Return a message for a list; for a damaged one, a notice by the space in its place."""
    try:
        return await known_message(tx, message_id)
    except MessageDamaged as error:
        return notice_of(error, message_id, at)


async def read_all(
    tx: "ports.Transaction", deliveries: Iterable[Delivery]
) -> tuple[Mapping[MessageId, Message], Sequence[Delivery]]:
    """Return the messages of deliveries, and the deliveries whose message is damaged."""
    messages: dict[MessageId, Message] = {}
    damaged: list[Delivery] = []
    for delivery in deliveries:
        try:
            messages[delivery.message_id] = await known_message(tx, delivery.message_id)
        except MessageDamaged:
            damaged.append(delivery)
    return messages, damaged


async def is_damaged(tx: "ports.Transaction", message_id: MessageId) -> bool:
    """Tell whether a message can't be shown because it is damaged."""
    try:
        await known_message(tx, message_id)
    except MessageDamaged:
        return True
    return False


def notice_of(error: MessageDamaged, message_id: MessageId, at: datetime) -> Message:
    """Return the notice that a list shows in the place of a damaged message. The notice is not stored."""
    return Message(
        id=message_id,
        kind=Kind.NOTIFY,
        sender=THE_SPACE,
        to=(),
        parts=(TextPart(f"{error.message[0].upper()}{error.message[1:]}. {error.advice}"),),
        created_at=at,
        thread=message_id,
        root=message_id,
        subject=None,
        scope=None,
        round=None,
        cause=None,
        in_reply_to=None,
        correlation_id=None,
        expects_reply=False,
        hops_left=0,
        trace=(),
        task=None,
        callback=None,
        deadline=None,
        expires_at=None,
        traceparent=None,
        metadata={},
        depth=0,
        marks=None,
    )
