"""Receipts in the Python API: the deliveries of a message, and waits for their progress."""

from typing import Literal

from covey.core.checks import choice, seconds
from covey.core.ids import MessageId
from covey.core.ledger.delivery import Delivery, DeliveryState
from covey.core.ledger.evidence import EvidenceGrade
from covey.core.ledger.receipt import Receipt as Record
from covey.services.mail.mail import Mail

StateName = Literal["queued", "offered", "in_context", "handled"]
GradeName = Literal["witnessed", "named", "inferred"]


class Receipt:
    """Returned by `send`: the message is durable. The receipt shows the deliveries as of the last read."""

    def __init__(self, record: Record, mail: Mail) -> None:
        self._record = record
        self._mail = mail

    @property
    def message_id(self) -> MessageId:
        return self._record.message_id

    @property
    def deliveries(self) -> tuple[Delivery, ...]:
        """One delivery for each copy, including refused ones. Its `seen` is the part of the text that the model was
        shown, and the whole length."""
        return self._record.deliveries

    @property
    def delivered(self) -> tuple[Delivery, ...]:
        """The copies that reached an inbox."""
        return self._record.delivered

    @property
    def refused(self) -> tuple[Delivery, ...]:
        """The copies that did not reach an inbox, each with its reason."""
        return self._record.refused

    async def refresh(self) -> "Receipt":
        """Read the deliveries again."""
        self._record = await self._mail.receipt(self.message_id)
        return self

    async def until(self, state: StateName, *, grade: GradeName = "named", timeout: float = 30.0) -> bool:
        """Wait until every recipient's copy has reached `state`. Return False after `timeout` seconds.

        For in_context, the evidence must be at least of `grade`; the default accepts witnessed and named.
        """
        progress = await self._mail.until(
            self.message_id,
            choice(DeliveryState, state, "state"),
            seconds(timeout, "timeout"),
            choice(EvidenceGrade, grade, "grade"),
        )
        self._record = progress.receipt
        return progress.reached

    def __repr__(self) -> str:
        return f"<Receipt {self.message_id} {', '.join(map(_state, self.deliveries))}>"


def _state(delivery: Delivery) -> str:
    part = f" ({delivery.seen})" if delivery.is_partly_seen else ""
    return f"{delivery.agent}: {delivery.state}{part}"
