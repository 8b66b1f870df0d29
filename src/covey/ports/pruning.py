"""Pruning in a transaction: queries over whole threads, the condition for removing a thread, the removal of its
messages, and the fingerprint in its tombstone."""

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Generic, NamedTuple, Protocol, TypeVar

from covey.core.names import MessageId, Scope
from covey.core.work.run import Run, RunId


class ThreadState(NamedTuple):
    """The state of a thread as a whole."""

    messages: int
    waiting: int
    """The number of deliveries that an inbox still holds, or that are still to be posted to people."""
    owed: int
    """The number of tickets that are not closed."""
    last_at: datetime
    """The time of the last event in the thread."""
    scopes: frozenset[Scope]
    """The scopes of the messages; empty if none of them has a scope."""
    tasks: int = 0
    """The number of tasks that were handed over in the thread."""
    unfinished: int = 0
    """The number of these tasks that are not finished, or have an unfinished ancestor or descendant."""
    runs: int = 0
    """The number of children that were started with the thread's messages."""
    running: int = 0
    """The number of these children that still need work (`Run.is_done_with`)."""

    @property
    def is_open(self) -> bool:
        return self.waiting > 0 or self.owed > 0 or self.unfinished > 0 or self.running > 0

    def may_go(self, before: datetime) -> bool:
        """Tell whether the thread has nothing open, and its last event is older than `before`."""
        return not self.is_open and self.last_at < before


def fingerprint(ids: Iterable[MessageId]) -> str:
    """Return the fingerprint that replaces the ids of messages in a tombstone: the sha256 of the sorted ids, one a
    line."""
    from hashlib import sha256  # imported late because it brings OpenSSL, and every writer loads this module

    return sha256("".join(f"{message_id}\n" for message_id in sorted(ids)).encode()).hexdigest()


T = TypeVar("T")


class Page(NamedTuple, Generic[T]):
    """A page of a longer result, with a cursor."""

    items: Sequence[T]
    after: int | None
    """The cursor for the next page; None at the end."""


class RemovedCounts(NamedTuple):
    """The numbers of removed records."""

    messages: int = 0
    deliveries: int = 0
    tickets: int = 0
    offers: int = 0
    events: int = 0
    tasks: int = 0
    posts: int = 0
    runs: int = 0


class RetentionQueries(Protocol):
    """Bulk queries over a space, for pruning. The cost grows with the scanned records; pages bound it."""

    async def scopes(self, after: str, limit: int) -> Sequence[Scope]:
        """Return the first `limit` scopes that have messages and whose names are greater than `after`, by name."""
        ...

    async def threads(self, scope: Scope | None, before: datetime, after: int, limit: int) -> Page[MessageId]:
        """Scan the next `limit` messages with this scope, or without any for None, that were created before that time,
        in the order of acceptance from `after` on (0 at first). Return their threads, each once."""
        ...

    async def state(self, thread: MessageId) -> ThreadState | None:
        """Return the state of a thread; None if there is no such thread."""
        ...

    async def newest(self, thread: MessageId, limit: int) -> Sequence[MessageId]:
        """Return the last accepted `limit` messages of the thread, newest first."""
        ...

    async def unasked(self, before: datetime, limit: int) -> Sequence[Run]:
        """Return the first `limit` runs that need no more work (`Run.is_done_with`), ended before that time, and have
        no request, because their spawn failed early. They are in the order in which they were first put."""
        ...

    async def files(self, after: int, limit: int) -> Page[str]:
        """Scan the next `limit` messages with file parts, in the order of acceptance from `after` on (0 at first).
        Return the digests of the parts, each once. The cost does not grow with messages without files."""
        ...


class PrunedIds(Protocol):
    """The ids of removed messages, which are kept for ever."""

    async def has(self, message_id: MessageId) -> bool:
        """Tell whether a message with this id existed and was removed."""
        ...

    async def count(self) -> int:
        """Return the number of messages that were removed so far."""
        ...

    async def remember(self, message_ids: Sequence[MessageId]) -> None:
        """Add ids of messages that were removed in another space, when this one imports it."""
        ...

    async def remove(self, message_ids: Sequence[MessageId]) -> RemovedCounts:
        """Remove messages with their deliveries, posts, tickets and tasks, the runs that they began and the events that
        name them; keep their ids. Raise LookupError if a message does not exist, or anything of it is open: a waiting
        delivery, a pending post, an unclosed ticket, an unfinished task, or a run that needs more work."""
        ...

    async def remove_runs(self, run_ids: Sequence[RunId]) -> RemovedCounts:
        """Remove runs without a request, with their events. Raise LookupError if a run does not exist, needs more work,
        or has a request."""
        ...

    async def remove_offers(self, after: int, limit: int) -> tuple[RemovedCounts, int | None]:
        """Scan the next `limit` events from the position `after` on (0 at first). Remove each offer made there that has
        ended and whose deliveries are all gone, and each event that names a removed offer. Return their numbers, and
        the cursor for the next call (see `Page.after`)."""
        ...
