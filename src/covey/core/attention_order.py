"""The order of attention: whose mail comes first, and that nobody's waits for ever.

Operator before lead before peer, requests before answers before notes, new before shown, then by age. So that nothing
starves, one place of each turn belongs to whatever has waited longest, whosever it is.
"""

from collections.abc import Callable, Collection, Iterable, Sequence
from typing import Final

from covey.core.attention import Letter, Rank
from covey.core.delivery import Delivery, DeliveryState
from covey.core.identity import Grade, Identity
from covey.core.message import Kind, asks_something
from covey.core.names import AgentName

_STATES: Final = frozenset({Kind.NOTIFY, Kind.UPDATE})
"""Kinds that may tell a newer state of the same thing."""


def rank_of(sender: Identity, leads: Collection[AgentName]) -> Rank:
    """Return whose mail it is. The names of the operator and of the space count only with their grades."""
    if sender.is_operator:
        return Rank.OPERATOR
    return Rank.LEAD if sender.grade is Grade.SPACE or sender.agent in leads else Rank.PEER


def in_order(deliveries: Iterable[Delivery], rank: Callable[[Delivery], Rank]) -> Sequence[Delivery]:
    """Return deliveries in the order in which they get their places: after the one that has waited longest, the most
    important first."""
    ordered = sorted(deliveries, key=lambda delivery: (rank(delivery), _weight(delivery), *_age(delivery)))
    longest = min(ordered, key=_age, default=None)
    return ordered if longest is None else [longest, *(d for d in ordered if d.id != longest.id)]


def shown_order(letter: Letter) -> tuple[int, int, int]:
    """Return the place of a letter among those that are shown: the order of importance, then that of the inbox."""
    return letter.rank, _weight(letter), letter.number


def _weight(item: Delivery | Letter) -> int:
    """Requests and tasks before answers before notes."""
    if asks_something(item.kind, item.expects_reply):
        return 0
    return 1 if item.kind is Kind.RESPONSE else 2


def _age(delivery: Delivery) -> tuple[bool, float, int]:
    """Return what sorts by how long a delivery waits for its turn: what was never shown as it came, then what was shown
    before, the longest ago first."""
    was_shown = delivery.state is DeliveryState.IN_CONTEXT
    return was_shown, delivery.updated_at.timestamp() if was_shown else 0.0, delivery.seq


def newest_states(deliveries: Sequence[Delivery]) -> tuple[Sequence[Delivery], Sequence[tuple[Delivery, Delivery]]]:
    """Return the deliveries without those that tell an older state of what another one is about, and apart from them
    each of these with the newer one: a notify or update of the same sender, scope and subject, never a request."""
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
    """Return what a delivery tells the state of; None where it is not of that kind."""
    if delivery.kind not in _STATES or delivery.scope is None or delivery.subject is None:
        return None
    return delivery.sender, delivery.scope, delivery.subject
