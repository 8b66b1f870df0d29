"""Branches: a thread laid out as a tree, each message with the lines that lead to it."""

from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from covey.core.ids import MessageId
from covey.core.message import Message

DEEPEST: Final = 8
"""Replies to replies are indented so far; a long dialogue would otherwise walk off the screen."""


class Branch(NamedTuple):
    """A message, what stands before its first line, and what before its further ones."""

    message: Message
    lead: str
    margin: str


def branches(messages: Sequence[Message]) -> Iterator[Branch]:
    """Go through a thread as a tree: each message below the one it replies to, siblings in their order."""
    known = {message.id for message in messages}
    replies: dict[MessageId | None, list[Message]] = {}
    for message in messages:
        parent = message.in_reply_to if message.in_reply_to in known else None
        replies.setdefault(parent, []).append(message)
    # Each waiting message with its depth, its lead, and what stands before everything below it.
    waiting = [(message, 0, "", "") for message in reversed(replies.get(None, ()))]
    while waiting:
        message, depth, lead, base = waiting.pop()
        below = replies.get(message.id, ())
        is_deep = depth >= DEEPEST
        yield Branch(message, lead, base + ("   " if is_deep else "│ " if below else "  "))
        for n, reply in enumerate(reversed(below)):
            is_last = n == 0
            inner = base if is_deep else base + ("   " if is_last else "│  ")
            waiting.append((reply, depth + 1, base + ("└─ " if is_last else "├─ "), inner))
