"""The receipt as a Python caller holds it: what became of a message, and a way to wait for more."""

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
    """Returned by `send`: the message is durable. It shows the deliveries as they were when last looked at."""

    def __init__(self, record: Record, mail: Mail) -> None:
        self._record = record
        self._mail = mail

    @property
    def message_id(self) -> MessageId:
        return self._record.message_id

    @property
    def deliveries(self) -> tuple[Delivery, ...]:
        """One for each copy, refused ones included. `seen` says how much of it the model was shown, of how much."""
        return self._record.deliveries

    @property
    def delivered(self) -> tuple[Delivery, ...]:
        """The copies that reached an inbox."""
        return self._record.delivered

    @property
    def refused(self) -> tuple[Delivery, ...]:
        """The copies that did not, each with its reason."""
        return self._record.refused

    async def refresh(self) -> "Receipt":
        """Look again."""
        self._record = await self._mail.receipt(self.message_id)
        return self

    async def until(self, state: StateName, *, grade: GradeName = "named", timeout: float = 30.0) -> bool:
        """Wait until every recipient's copy has got as far as `state`; tell whether it did within `timeout` seconds.

        For in_context, evidence must be at least as good as `grade`; the default wants witnessed or named.
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
