"""The receipt of a message: the present state of each of its deliveries."""

from typing import NamedTuple

from covey.core.ids import MessageId
from covey.core.ledger.delivery import Delivery, DeliveryState
from covey.core.ledger.evidence import EvidenceGrade, at_least
from covey.core.names import AgentName

_ORDER = (DeliveryState.ACCEPTED, DeliveryState.QUEUED, DeliveryState.OFFERED, DeliveryState.IN_CONTEXT)


class Receipt(NamedTuple):
    """Proof of acceptance: the message is durable, and these are its deliveries now."""

    message_id: MessageId
    deliveries: tuple[Delivery, ...]

    @property
    def delivered(self) -> tuple[Delivery, ...]:
        """The copies that reached an inbox, whatever their state is now."""
        return tuple(d for d in self.deliveries if d.state not in (DeliveryState.REFUSED, DeliveryState.UNDELIVERABLE))

    @property
    def refused(self) -> tuple[Delivery, ...]:
        """The copies that were refused or undeliverable, each with its reason."""
        return tuple(d for d in self.deliveries if d.state in (DeliveryState.REFUSED, DeliveryState.UNDELIVERABLE))


class Progress(NamedTuple):
    """The result of a wait on a receipt: a value, also if the wait timed out."""

    reached: bool
    receipt: Receipt


def reached(delivery: Delivery, state: DeliveryState, grade: EvidenceGrade) -> bool:
    """Tell whether a delivery has reached `state`. For in_context, it needs evidence of at least `grade`."""
    if state is DeliveryState.IN_CONTEXT:
        return at_least(delivery.grade, grade)
    if state in _ORDER and delivery.state in _ORDER:
        return _ORDER.index(delivery.state) >= _ORDER.index(state)
    if state in _ORDER:
        return delivery.state is DeliveryState.HANDLED
    return delivery.state is state


def progress(receipt: Receipt, state: DeliveryState, grade: EvidenceGrade) -> Progress | None:
    """Return the outcome of waiting for `state`, or None while it is undecided.

    Reached: every recipient agent has a copy that reached the state. Failed: some recipient has only copies that ended
    in another state. A copy that gave way to another does not count.
    """
    by_agent: dict[AgentName | None, list[Delivery]] = {}
    for delivery in receipt.deliveries:
        if delivery.gave_way:
            continue
        by_agent.setdefault(delivery.agent, []).append(delivery)
    if all(any(reached(d, state, grade) for d in copies) for copies in by_agent.values()):
        return Progress(True, receipt)
    if any(all(d.is_terminal and not reached(d, state, grade) for d in copies) for copies in by_agent.values()):
        return Progress(False, receipt)
    return None
