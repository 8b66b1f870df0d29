"""Receipts, for people and programs."""

from covey.core.ledger.delivery import Delivery
from covey.core.ledger.receipt import Receipt
from covey.surfaces.cli.exits import DONE, REFUSED
from covey.surfaces.cli.terminal.output import Output
from covey.surfaces.cli.views.documents import delivery_document


def show_receipt(output: Output, receipt: Receipt) -> int:
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


def evidence_of(delivery: Delivery) -> str:
    """Return the grade of evidence that a model has read a copy, or the number of characters seen if only a part."""
    if delivery.is_partly_seen and delivery.seen is not None:
        return f"{delivery.seen.shown:,} of {delivery.seen.length:,} characters"
    return str(delivery.grade or "")


def place_of(delivery: Delivery) -> str:
    """Return the place of a copy, or the reason of its state."""
    return delivery.reason or ("parked until it joins" if delivery.is_parked else f"session {delivery.session}")
