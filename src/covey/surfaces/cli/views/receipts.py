"""Receipts, as a verb shows them."""

from covey.core.ledger.delivery import Delivery
from covey.core.ledger.receipt import Receipt
from covey.surfaces.cli.exits import DONE, REFUSED
from covey.surfaces.cli.terminal.output import Output
from covey.surfaces.cli.views.documents import delivery_document


def show_receipt(output: Output, receipt: Receipt) -> int:
    """Show where each copy is; 1 where nobody got it."""
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
    """Return how good the evidence is that a model has read a copy; how much of it, where there is more."""
    if delivery.is_partly_seen and delivery.seen is not None:
        return f"{delivery.seen.shown:,} of {delivery.seen.length:,} characters"
    return str(delivery.grade or "")


def place_of(delivery: Delivery) -> str:
    """Return where a copy is, or why it is not there any more."""
    return delivery.reason or ("parked until it joins" if delivery.is_parked else f"session {delivery.session}")
