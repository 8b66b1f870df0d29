"""Branches: messages, tasks or sessions laid out as a tree, each with the lines that lead to it."""

from collections.abc import Callable, Iterator, Sequence
from typing import Final, Generic, NamedTuple, TypeVar

from covey.core.ledger.message import Message

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
