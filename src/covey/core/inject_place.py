"""The place in a list of messages where what is pending belongs: at the end, in a form that is valid there."""

from typing import NamedTuple

from covey.core.inject_pieces import Pieces, Who


class End(NamedTuple):
    """How a list ends."""

    open_from: int | None
    """Where the first call stands that nobody has answered yet; None where there is none."""
    begun_from: int | None
    """Where the answer begins that the model is to go on with (a prefill); None where it begins anew."""
    thinks: bool
    """Whether the model thought in its last turn: its next answer goes on from there."""


class TextPlace(NamedTuple):
    """Where text goes."""

    at: int
    is_new: bool
    """Whether a new message of the user goes there, instead of the text into the one that is there."""


def end_of(pieces: Pieces) -> End:
    """Look at the last turn of the model, and at what followed."""
    answered: set[str] = set()
    open_from = begun_from = None
    thinks = False
    for at in range(len(pieces) - 1, -1, -1):
        piece = pieces[at]
        answered |= piece.results
        if piece.calls - answered:
            open_from = at
        if piece.who is Who.MODEL:
            thinks = thinks or piece.thinks
            if at == len(pieces) - 1 or begun_from == at + 1:
                begun_from = at
        elif piece.who is Who.USER and not piece.results:
            break
    return End(open_from, begun_from, thinks)


def text_place(pieces: Pieces) -> TextPlace:
    """Find where text belongs: with the last words of the user if nothing but the system's follow, otherwise in a new
    message of the user at the end; before a call that is open and before an answer that has begun, for nothing may
    stand after them."""
    open_from, begun_from, _ = end_of(pieces)
    limits = [at for at in (open_from, begun_from) if at is not None]
    limit = min(limits, default=len(pieces))
    user = next((at for at in range(limit - 1, -1, -1) if pieces[at].who is Who.USER), None)
    if user is not None and (limits or all(pieces[at].who is Who.SYSTEM for at in range(user + 1, limit))):
        return TextPlace(user, is_new=False)
    while limits and limit > 0 and pieces[limit - 1].who in (Who.MODEL, Who.TOOL):
        limit -= 1
    return TextPlace(limit, is_new=True)
