"""Search: a full-text index of messages, which follows them up to a watermark and never delays a send."""

from collections.abc import Sequence
from typing import NamedTuple, Protocol

from covey.core.ids import MessageId
from covey.ports.ledger import MessageFilter


class Hit(NamedTuple):
    message_id: MessageId
    snippet: str
    """The matching passage, with the words in «»."""


class Search(Protocol):
    """A full-text index that follows the messages."""

    async def find(self, words: str, limit: int, wanted: MessageFilter | None = None) -> Sequence[Hit]:
        """Return the best `limit` messages that have all the words (in subject or text) and match the filter, best
        first, among all that were committed before the call. Any text is a query; punctuation has no meaning."""
        ...

    async def forget(self) -> None:
        """Remove pruned messages from the index. `find` does not return them even before this call."""
        ...

    async def lag(self) -> int:
        """Return the number of messages that are not indexed yet."""
        ...

    async def close(self) -> None: ...
