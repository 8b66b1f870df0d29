"""Search: messages by their words, behind a watermark, never in the way of a send."""

from collections.abc import Sequence
from typing import NamedTuple, Protocol

from covey.core.ids import MessageId
from covey.ports.ledger import MessageFilter


class Hit(NamedTuple):
    message_id: MessageId
    snippet: str
    """Where it fits, with the words in «»."""


class Search(Protocol):
    """A full-text index that follows the messages."""

    async def find(self, words: str, limit: int, wanted: MessageFilter | None = None) -> Sequence[Hit]:
        """Return the best `limit` messages that have all the words (subject or text) and fit, best first, among all
        that were committed before the call. Any text is a query; punctuation has no meaning."""
        ...

    async def forget(self) -> None:
        """Drop the words of messages that were removed. `find` returns none of them even before."""
        ...

    async def lag(self) -> int:
        """Return how many messages the index has not taken in yet."""
        ...

    async def close(self) -> None: ...
