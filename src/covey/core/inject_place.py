"""The place for an injection in a list of messages: as near to the end as is valid."""

from typing import NamedTuple

from covey.core.inject_pieces import Pieces, Who


class End(NamedTuple):
    """The state of a list at its end."""

    open_from: int | None
    """The index of the first tool call without a result, or None."""
    begun_from: int | None
    """The index at which the model's unfinished answer (a prefill) begins, or None."""
    thinks: bool
    """True if the model thought in its last turn: its next answer goes on from there."""


class TextPlace(NamedTuple):
    """The place for a text."""

    at: int
    is_new: bool
    """True to insert a new message of the user at this index, False to add the text to the message there."""


def end_of(pieces: Pieces) -> End:
    """Return the state of the list after the last turn of the model."""
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
    """Return the place for a text: in the last message of the user if only messages of the system follow, otherwise in
    a new message of the user at the end. An open call or an unfinished answer must stay last, so the text goes before
    it."""
    open_from, begun_from, _ = end_of(pieces)
    limits = [at for at in (open_from, begun_from) if at is not None]
    limit = min(limits, default=len(pieces))
    user = next((at for at in range(limit - 1, -1, -1) if pieces[at].who is Who.USER), None)
    if user is not None and (limits or all(pieces[at].who is Who.SYSTEM for at in range(user + 1, limit))):
        return TextPlace(user, is_new=False)
    while limits and limit > 0 and pieces[limit - 1].who in (Who.MODEL, Who.TOOL):
        limit -= 1
    return TextPlace(limit, is_new=True)
