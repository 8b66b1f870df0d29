"""History: the journal from a position on, and messages by their words."""

from collections.abc import Sequence
from typing import NamedTuple

from covey.core.event import Event
from covey.core.message import Message
from covey.ports.journal import EventFilter
from covey.ports.search import Search
from covey.ports.store import Store, Transaction


class Found(NamedTuple):
    """A message that a search found, and where it fits."""

    message: Message
    snippet: str


class History:
    def __init__(self, store: Store, search: Search) -> None:
        self._store = store
        self._search = search

    async def read(self, after: int = 0, limit: int = 1000, wanted: EventFilter | None = None) -> Sequence[Event]:
        """Return the first events after a position that fit."""

        async def operation(tx: Transaction) -> Sequence[Event]:
            return await tx.journal.read(after, limit, wanted)

        return await self._store.read(operation, is_long=True)

    async def last(self) -> int:
        """Return the position of the newest event."""

        async def operation(tx: Transaction) -> int:
            return await tx.journal.last()

        return await self._store.read(operation)

    async def search(self, words: str, limit: int = 20) -> Sequence[Found]:
        """Return the messages that have all the words, best first."""
        hits = await self._search.find(words, limit)

        async def operation(tx: Transaction) -> Sequence[Found]:
            found = [(await tx.messages.get(hit.message_id), hit.snippet) for hit in hits]
            return [Found(message, snippet) for message, snippet in found if message is not None]

        return await self._store.read(operation)
