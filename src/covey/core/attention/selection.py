"""The selection of pending mail for one turn: its priority order, and the letters that fit into the budget.

Operator before lead before peer, requests before answers before notes, new before shown, then by age. To prevent
starvation, one place in each turn belongs to the delivery that has waited longest, whatever its priority.
"""

from collections.abc import Callable, Collection, Iterable, Sequence
from typing import Final

from covey.core.attention.pending import Letter, OtherAgent, Pending, SenderRank
from covey.core.attention.styles import frame_size, letter_size, other_size
from covey.core.identity import Grade, Identity
from covey.core.ledger.delivery import DeliveryRecord, DeliveryState
from covey.core.ledger.message import Kind, asks_something
from covey.core.names import AgentName

_STATES: Final = frozenset({Kind.NOTIFY, Kind.UPDATE})
"""Kinds of messages that may report a newer state of the same subject."""


def rank_of(sender: Identity, leads: Collection[AgentName]) -> SenderRank:
    """Return the rank of a sender. The names of the operator and of the space count only with their grades."""
    if sender.is_operator:
        return SenderRank.OPERATOR
    return SenderRank.LEAD if sender.grade is Grade.SPACE or sender.agent in leads else SenderRank.PEER


def in_order(
    deliveries: Iterable[DeliveryRecord], rank: Callable[[DeliveryRecord], SenderRank]
) -> Sequence[DeliveryRecord]:
    """Return deliveries in the order in which they get their places: first the one that has waited longest, then the
    most important."""
    ordered = sorted(deliveries, key=lambda delivery: (rank(delivery), _weight(delivery), *_age(delivery)))
    longest = min(ordered, key=_age, default=None)
    return ordered if longest is None else [longest, *(d for d in ordered if d.id != longest.id)]


def shown_order(letter: Letter) -> tuple[int, int, int]:
    """Return the sort key of a letter among the shown ones: by importance, then by inbox order."""
    return letter.rank, _weight(letter), letter.number


def _weight(item: DeliveryRecord | Letter) -> int:
    """Return a sort key: requests and tasks before answers before notes."""
    if asks_something(item.kind, item.expects_reply):
        return 0
    return 1 if item.kind is Kind.RESPONSE else 2


def _age(delivery: DeliveryRecord) -> tuple[bool, float, int]:
    """Return a sort key by waiting time: deliveries that were never shown in the order of arrival, then those shown
    before, the longest ago first."""
    was_shown = delivery.state is DeliveryState.IN_CONTEXT
    return was_shown, delivery.updated_at.timestamp() if was_shown else 0.0, delivery.seq


def newest_states(
    deliveries: Sequence[DeliveryRecord],
) -> tuple[Sequence[DeliveryRecord], Sequence[tuple[DeliveryRecord, DeliveryRecord]]]:
    """Split deliveries into current and outdated ones. A notify or update is outdated if a newer one has the same
    sender, scope and subject; a request never is. Return the current ones, and pairs of an outdated and its newer
    one."""
    newest: dict[object, DeliveryRecord] = {}
    for delivery in deliveries:
        if (about := _about(delivery)) is not None and (about not in newest or newest[about].seq < delivery.seq):
            newest[about] = delivery
    kept: list[DeliveryRecord] = []
    outdated: list[tuple[DeliveryRecord, DeliveryRecord]] = []
    for delivery in deliveries:
        newer = newest.get(_about(delivery), delivery)
        if newer.id == delivery.id:
            kept.append(delivery)
        else:
            outdated.append((delivery, newer))
    return kept, outdated


def _about(delivery: DeliveryRecord) -> object:
    """Return the sender, scope and subject whose state a delivery reports; None if it reports no state."""
    if delivery.kind not in _STATES or delivery.scope is None or delivery.subject is None:
        return None
    return delivery.sender, delivery.scope, delivery.subject


OPENING_CHARS: Final = 400
"""The shortest length to which a long body is cut, up to the end of a word. Without room for it, a letter is left
out."""

OTHERS_SHARE: Final = 4
"""The list of other agents takes at most this fraction of a budget: one in four characters."""

LONGEST_WORD: Final = 40

Size = Callable[[Letter], int]


def fit_others(pending: Pending, budget: int) -> Pending:
    """Return `pending` with as many of the other agents as have room."""
    room = budget // OTHERS_SHARE
    shown: list[OtherAgent] = []
    for other in pending.others:
        room -= other_size(other)
        if room < 0:
            break
        shown.append(other)
    return pending._replace(others=tuple(shown), more_others=len(pending.others) - len(shown))


def fit_letters(pending: Pending, waiting: Sequence[Letter], budget: int) -> Pending:
    """Return `pending` with the letters of `waiting` that have room, tried in this order. The counts in
    `pending.left_out` include all of them; the shown letters are subtracted.

    Each chosen letter gets at least the beginning of its body shown. The remaining room then goes to the most important
    letters first. The budget holds for every style of rendering.
    """
    room = budget - frame_size(pending)
    known: dict[tuple[str, int], int] = {}

    def size(letter: Letter) -> int:
        key = (letter.delivery_id, len(letter.text))
        if key not in known:
            known[key] = letter_size(letter, pending)
        return known[key]

    chosen = _with_room(waiting, room, size)
    room -= sum(size(letter) for letter in chosen)
    shown: list[Letter] = []
    whole = {letter.delivery_id: letter for letter in waiting}
    for letter in sorted(chosen, key=shown_order):
        grown = shortened(whole[letter.delivery_id], size(letter) + room, size)
        room -= size(grown) - size(letter)
        shown.append(grown)
    asking = sum(asks_something(letter.kind, letter.expects_reply) for letter in shown)
    messages, all_asking = pending.left_out
    left_out = pending.left_out._replace(messages=messages - len(shown), asking=all_asking - asking)
    return pending._replace(letters=tuple(shown), left_out=left_out)


def _with_room(waiting: Sequence[Letter], room: int, size: Size) -> Sequence[Letter]:
    """Return the first letters that have room, each with only the beginning of its body."""
    chosen: list[Letter] = []
    for letter in waiting:
        opening = shortened(letter, size(letter._replace(text="")) + OPENING_CHARS, size)
        room -= size(opening)
        if room < 0:
            break
        chosen.append(opening)
    return chosen


def shortened(letter: Letter, room: int, size: Size) -> Letter:
    """Return the letter, cut so that it takes at most `room` characters. Cut at the end of a word if one is near."""
    if size(letter) <= room:
        return letter
    text = letter.text
    fits, too_long = 0, min(len(text), room + 1)
    while too_long - fits > 1:
        middle = (fits + too_long) // 2
        if size(letter._replace(text=text[:middle])) <= room:
            fits = middle
        else:
            too_long = middle
    return letter._replace(text=_at_word(text[:fits]))


def _at_word(text: str) -> str:
    """Return a text without its last word, which may have been cut; the whole text if that would remove too much."""
    head = text.rstrip()
    word = max(head.rfind(" "), head.rfind("\n"))
    return (head[:word].rstrip() if word > max(0, len(head) - LONGEST_WORD) else "") or text
