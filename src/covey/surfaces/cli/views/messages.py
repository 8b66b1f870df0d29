"""Messages and receipts, for people: headline, parts other than text, and the place of each copy."""

import json
from collections.abc import Sequence
from datetime import datetime

from covey.core.ledger.delivery import DeliveryRecord
from covey.core.ledger.message import DataPart, FilePart, Message, TextPart
from covey.core.ledger.outcome import ReceiptRecord
from covey.core.work.approval import approval_data
from covey.surfaces.cli.exits import DONE, REFUSED
from covey.surfaces.cli.terminal.output import Output
from covey.surfaces.cli.terminal.text import clipped
from covey.surfaces.cli.times import age
from covey.surfaces.cli.views.documents import delivery_document

LONGEST_DATA = 200
APPROVAL = frozenset({"type", "request_id", "approve", "reason", "feedback"})


def headline(message: Message, now: datetime) -> Sequence[tuple[str, str]]:
    """Return kind, sender, recipients, topic and age of a message, as pieces with their styles."""
    to = ", ".join(address.value for address in message.to)
    topic = about(message)
    return [
        (f"{message.kind} ", "bold"),
        (str(message.sender), "cyan"),
        (f" → {to}", ""),
        (f"  {topic}" if topic else "", "magenta"),
        (f"  {age(message.created_at, now)} ago", "dim"),
    ]


def about(message: Message) -> str:
    """Return the topic of a message: its scope, round and subject, if it has them."""
    scope = f"{message.scope}#{message.round}" if message.scope and message.round is not None else message.scope
    return " · ".join(filter(None, (scope, message.subject)))


def extras(message: Message) -> Sequence[str]:
    """Return a line for each part that is not text. The standard fields of an approval are left out."""
    told = approval_data(message)
    return [
        _extra(part)
        for part in message.parts
        if not isinstance(part, TextPart)
        and not (isinstance(part, DataPart) and part.data is told and told is not None and told.keys() <= APPROVAL)
    ]


def _extra(part: FilePart | DataPart) -> str:
    if isinstance(part, FilePart):
        return f"file {part.name}, {part.size:,} bytes, sha256 {part.digest[:12]}"
    return f"data {clipped(json.dumps(part.data, ensure_ascii=False), LONGEST_DATA)}"


def show_receipt(output: Output, receipt: ReceiptRecord) -> int:
    """Show the place of each copy. Return 1 if no recipient got the message."""
    if output.as_json:
        copies = [delivery_document(delivery) for delivery in receipt.deliveries]
        output.json({"id": receipt.message_id, "deliveries": copies})
    else:
        output.text(receipt.message_id)
        output.table(
            ("agent", "#", "state", "where, why"),
            [(d.agent or "?", str(d.number or ""), str(d.state), place_of(d)) for d in receipt.deliveries],
            "Nobody is here to get it.",
        )
    return DONE if receipt.delivered else REFUSED


def evidence_of(delivery: DeliveryRecord) -> str:
    """Return the grade of evidence that a model has read a copy, or the number of characters seen if only a part."""
    if delivery.is_partly_seen and delivery.seen is not None:
        return f"{delivery.seen.shown:,} of {delivery.seen.length:,} characters"
    return str(delivery.grade or "")


def place_of(delivery: DeliveryRecord) -> str:
    """Return the place of a copy, or the reason of its state."""
    return delivery.reason or ("parked until it joins" if delivery.is_parked else f"session {delivery.session}")
