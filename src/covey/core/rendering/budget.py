"""Fitting letters into a budget: choosing letters, and cutting long bodies."""

from collections.abc import Callable, Sequence
from typing import Final

from covey.core.attention.order import shown_order
from covey.core.attention.pending import Letter, OtherAgent, Pending
from covey.core.ledger.message import asks_something
from covey.core.rendering.styles import frame_size, letter_size, other_size

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
