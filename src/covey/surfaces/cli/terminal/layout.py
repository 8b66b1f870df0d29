"""The layout of lines: cut to a width, one for each event, or items as a tree."""

from collections.abc import Callable, Iterator, Sequence
from datetime import datetime
from typing import Final, Generic, NamedTuple, TypeVar

from covey.core.ledger.message import Message
from covey.surfaces.cli.terminal.output import Output
from covey.surfaces.cli.terminal.text import cells, clipped, fitted, one_line, printable

T = TypeVar("T")

DEEPEST: Final = 8
"""Maximum depth of indentation, so that a long dialogue stays on the screen."""


class Branch(NamedTuple, Generic[T]):
    """An item, the prefix of its first line, and the prefix of its further lines."""

    item: T
    lead: str
    margin: str


def branches(messages: Sequence[Message]) -> Iterator[Branch[Message]]:
    """Yield a thread as a tree: each message below the one it replies to, siblings in order."""
    return laid_out(messages, lambda message: message.id, lambda message: message.in_reply_to)


def laid_out(items: Sequence[T], key: Callable[[T], str], above: Callable[[T], str | None]) -> Iterator[Branch[T]]:
    """Yield items as a tree: each below the one that `above` names, siblings in order."""
    known = {key(item) for item in items}
    replies: dict[str | None, list[T]] = {}
    for item in items:
        parent = above(item)
        replies.setdefault(parent if parent in known else None, []).append(item)
    # Each waiting item with its depth, its lead, and the prefix of everything below it.
    waiting = [(item, 0, "", "") for item in reversed(replies.get(None, ()))]
    while waiting:
        item, depth, lead, base = waiting.pop()
        below = replies.get(key(item), ())
        is_deep = depth >= DEEPEST
        yield Branch(item, lead, base + ("   " if is_deep else "│ " if below else "  "))
        for n, reply in enumerate(reversed(below)):
            is_last = n == 0
            inner = base if is_deep else base + ("   " if is_last else "│  ")
            waiting.append((reply, depth + 1, base + ("└─ " if is_last else "├─ "), inner))


Piece = tuple[str, str]
"""A text with its style."""
Line = Sequence[Piece]


def cut(line: Line, width: int) -> Line:
    """Return a line, cut to a width in cells."""
    pieces: list[Piece] = []
    for text, style in line:
        room = width - sum(cells(piece) for piece, _ in pieces)
        if room > 0 and text:
            pieces.append((fitted(printable(text), room), style))
    return pieces


def shares(needed: Sequence[int], height: int) -> Sequence[int]:
    """Divide the height among blocks that need that many lines. Lines that a small block leaves go to the others, and
    a line that can't be divided goes to the first of them."""
    given, left = dict.fromkeys(range(len(needed)), 0), height
    for n, index in enumerate(sorted(given, key=lambda i: (needed[i], -i))):
        given[index] = min(needed[index], left // (len(needed) - n))
        left -= given[index]
    return list(given.values())


WORD_WIDTH: Final = 10
LONGEST: Final = 200
"""Maximum length of a shown text. Other verbs show the whole."""


def event_line(at: datetime, word: str, text: str) -> str:
    """Return the line of an event: its local time, its word and its text."""
    return _head(at) + f"{word:<{WORD_WIDTH}}  {one_line(text)}".rstrip()


def show_event_line(output: Output, at: datetime, word: str, text: str) -> None:
    """Write the line as a result. A person at a terminal gets colour and wrapped lines."""
    if not output.is_for_a_person:
        output.text(event_line(at, word, text))
        return
    from covey.surfaces.cli.terminal.screen import STYLES

    lead, middle = _head(at), f"{word:<{WORD_WIDTH}}  "
    pieces = (middle, STYLES.get(word, "")), (clipped(one_line(text), LONGEST), "")
    output.pieces(*pieces, lead=lead, margin=" " * len(lead + middle))


def _head(at: datetime) -> str:
    return f"{at.astimezone():%H:%M:%S}  "
