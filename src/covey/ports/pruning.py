"""Pruning in a transaction: threads as a whole, and what was removed for good."""

from collections.abc import Sequence
from datetime import datetime
from typing import Generic, NamedTuple, Protocol, TypeVar

from covey.core.ids import MessageId
from covey.core.names import Scope
from covey.core.pruning import ThreadState
from covey.core.run import Run, RunId

T = TypeVar("T")


class Page(NamedTuple, Generic[T]):
    """Some items of a longer row, and how to go on."""

    items: Sequence[T]
    after: int | None
    """What to ask for next; None where the row is at its end."""


class Removed(NamedTuple):
    """How many records are gone."""

    messages: int = 0
    deliveries: int = 0
    tickets: int = 0
    offers: int = 0
    events: int = 0
    tasks: int = 0
    posts: int = 0
    runs: int = 0


class Holdings(Protocol):
    """What a space holds, in bulk. The cost follows what is looked through; a page at a time bounds it."""

    async def scopes(self, after: str, limit: int) -> Sequence[Scope]:
        """Return the first `limit` scopes that have messages and whose names come after that one, by name."""
        ...

    async def threads(self, scope: Scope | None, before: datetime, after: int, limit: int) -> Page[MessageId]:
        """Look through the next `limit` messages of the scope, or without one, that were made before that time, in the
        order of acceptance from `after` on (0 at first); return their threads, each once."""
        ...

    async def state(self, thread: MessageId) -> ThreadState | None:
        """Return what a thread has come to; None where there is no such thread."""
        ...

    async def newest(self, thread: MessageId, limit: int) -> Sequence[MessageId]:
        """Return the `limit` messages of the thread that were accepted last, newest first."""
        ...

    async def unasked(self, before: datetime, limit: int) -> Sequence[Run]:
        """Return the first `limit` runs that are done with, ended before that time and never were asked anything: there
        is no message that began them, because their spawn failed before. In the order in which they were first put."""
        ...

    async def files(self, after: int, limit: int) -> Page[str]:
        """Look through the next `limit` messages with file parts, in the order of acceptance from `after` on (0 at
        first); return the digests of the parts, each once. The cost does not grow with messages without files."""
        ...


class Pruned(Protocol):
    """What was removed: its ids, for ever."""

    async def has(self, message_id: MessageId) -> bool:
        """Tell whether there was such a message and it was removed."""
        ...

    async def count(self) -> int:
        """Return how many messages were removed so far."""
        ...

    async def remember(self, message_ids: Sequence[MessageId]) -> None:
        """Keep the ids of messages that were removed in the space that this one takes everything from."""
        ...

    async def remove(self, message_ids: Sequence[MessageId]) -> Removed:
        """Remove messages with their deliveries and posts, their tickets, their tasks, the runs that they began and the
        events that name them; keep their ids. A LookupError where one is not there, or something of it is open: a
        delivery that waits, or a post of one that is pending, a ticket that is not closed, a task that is not finished,
        a run that is not done with."""
        ...

    async def remove_runs(self, run_ids: Sequence[RunId]) -> Removed:
        """Remove runs that never were asked anything, with the events that tell of them. A LookupError where one is not
        there, is not done with, or has a message that began it."""
        ...

    async def remove_offers(self, after: int, limit: int) -> tuple[Removed, int | None]:
        """Look through the next `limit` events from the position `after` on (0 at first). Remove each offer made there
        that has ended and shows nothing that is left, and each event that names an offer that is gone. Return how many,
        and how to go on as a page does."""
        ...
