"""The receipt: what became of a message, one line for each delivery."""

from typing import NamedTuple

from covey.core.delivery import Delivery, DeliveryState
from covey.core.evidence import EvidenceGrade, at_least
from covey.core.ids import MessageId
from covey.core.names import AgentName

_ORDER = (DeliveryState.ACCEPTED, DeliveryState.QUEUED, DeliveryState.OFFERED, DeliveryState.IN_CONTEXT)


class Receipt(NamedTuple):
    """Proof of acceptance: the message is durable, and these are its deliveries now."""

    message_id: MessageId
    deliveries: tuple[Delivery, ...]

    @property
    def delivered(self) -> tuple[Delivery, ...]:
        """The copies that reached an inbox, whatever became of them there."""
        return tuple(d for d in self.deliveries if d.state not in (DeliveryState.REFUSED, DeliveryState.UNDELIVERABLE))

    @property
    def refused(self) -> tuple[Delivery, ...]:
        """The recipients that did not get it, each with its reason."""
        return tuple(d for d in self.deliveries if d.state in (DeliveryState.REFUSED, DeliveryState.UNDELIVERABLE))


class Progress(NamedTuple):
    """What a wait on a receipt came to: a value, whether it was reached or the time ran out."""

    reached: bool
    receipt: Receipt


def reached(delivery: Delivery, state: DeliveryState, grade: EvidenceGrade) -> bool:
    """Tell whether a delivery has got as far as `state`; as far as in_context only with evidence of at least
    `grade`."""
    if state is DeliveryState.IN_CONTEXT:
        return at_least(delivery.grade, grade)
    if state in _ORDER and delivery.state in _ORDER:
        return _ORDER.index(delivery.state) >= _ORDER.index(state)
    if state in _ORDER:
        return delivery.state is DeliveryState.HANDLED
    return delivery.state is state


def progress(receipt: Receipt, state: DeliveryState, grade: EvidenceGrade) -> Progress | None:
    """Return the outcome of waiting for `state`, or None while it is undecided.

    Reached: every recipient agent has a copy that got there. Failed: some recipient has only copies that ended
    elsewhere. A copy that gave way to another does not count.
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
