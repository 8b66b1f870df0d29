"""The order of attention: a priority order for mail, without starvation.

Operator before lead before peer, requests before answers before notes, new before shown, then by age. To prevent
starvation, one place in each turn belongs to the delivery that has waited longest, whatever its priority.
"""

from collections.abc import Callable, Collection, Iterable, Sequence
from typing import Final

from covey.core.attention.pending import Letter, Rank
from covey.core.identity import Grade, Identity
from covey.core.ledger.delivery import Delivery, DeliveryState
from covey.core.ledger.message import Kind, asks_something
from covey.core.names import AgentName

_STATES: Final = frozenset({Kind.NOTIFY, Kind.UPDATE})
"""Kinds of messages that may report a newer state of the same subject."""


def rank_of(sender: Identity, leads: Collection[AgentName]) -> Rank:
    """Return the rank of a sender. The names of the operator and of the space count only with their grades."""
    if sender.is_operator:
        return Rank.OPERATOR
    return Rank.LEAD if sender.grade is Grade.SPACE or sender.agent in leads else Rank.PEER


def in_order(deliveries: Iterable[Delivery], rank: Callable[[Delivery], Rank]) -> Sequence[Delivery]:
    """Return deliveries in the order in which they get their places: first the one that has waited longest, then the
    most important."""
    ordered = sorted(deliveries, key=lambda delivery: (rank(delivery), _weight(delivery), *_age(delivery)))
    longest = min(ordered, key=_age, default=None)
    return ordered if longest is None else [longest, *(d for d in ordered if d.id != longest.id)]


def shown_order(letter: Letter) -> tuple[int, int, int]:
    """Return the sort key of a letter among the shown ones: by importance, then by inbox order."""
    return letter.rank, _weight(letter), letter.number


def _weight(item: Delivery | Letter) -> int:
    """Return a sort key: requests and tasks before answers before notes."""
    if asks_something(item.kind, item.expects_reply):
        return 0
    return 1 if item.kind is Kind.RESPONSE else 2


def _age(delivery: Delivery) -> tuple[bool, float, int]:
    """Return a sort key by waiting time: deliveries that were never shown in the order of arrival, then those shown
    before, the longest ago first."""
    was_shown = delivery.state is DeliveryState.IN_CONTEXT
    return was_shown, delivery.updated_at.timestamp() if was_shown else 0.0, delivery.seq


def newest_states(deliveries: Sequence[Delivery]) -> tuple[Sequence[Delivery], Sequence[tuple[Delivery, Delivery]]]:
    """Split deliveries into current and outdated ones. A notify or update is outdated if a newer one has the same
    sender, scope and subject; a request never is. Return the current ones, and pairs of an outdated and its newer
    one."""
    newest: dict[object, Delivery] = {}
    for delivery in deliveries:
        if (about := _about(delivery)) is not None and (about not in newest or newest[about].seq < delivery.seq):
            newest[about] = delivery
    kept: list[Delivery] = []
    outdated: list[tuple[Delivery, Delivery]] = []
    for delivery in deliveries:
        newer = newest.get(_about(delivery), delivery)
        if newer.id == delivery.id:
            kept.append(delivery)
        else:
            outdated.append((delivery, newer))
    return kept, outdated


def _about(delivery: Delivery) -> object:
    """Return the sender, scope and subject whose state a delivery reports; None if it reports no state."""
    if delivery.kind not in _STATES or delivery.scope is None or delivery.subject is None:
        return None
    return delivery.sender, delivery.scope, delivery.subject
