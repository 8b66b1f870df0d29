"""The log: a totally ordered sequence of records that all machines of a space agree on, for stores that replicate it.

A replica holds the state that follows from the records up to its position. It appends a record only after the last one
that it knows (optimistic concurrency): the first writer wins, and the others read and try again. To the log, records
are opaque bytes.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple, Protocol

from covey.ports.store import Survives


class LogEntry(NamedTuple):
    """A record with its position in the log."""

    position: int
    """Counted from 1, without gaps."""
    record: bytes
    author: str | None = None
    """The principal whose credentials added the record, as the log has verified; None if the log does not distinguish
    principals."""


class LogState(NamedTuple):
    """The state of a log at one moment."""

    identity: str
    """The identity of the log, which changes if the log is deleted and created again."""
    first: int
    """The position of the oldest retained record."""
    last: int
    """The position of the newest record; 0 in a new log."""


class LogSnapshot(NamedTuple):
    """The state that follows from all records up to a position, stored beside the log."""

    position: int
    name: str


RecordCallback = Callable[[LogEntry | None], None]
"""A callback for each entry as it is added, in their order; it gets None if entries may have been missed. The log calls
it on a thread of its own. It must not block for long, and must not raise."""


AppendCallback = Callable[[int | BaseException | None], None]
"""A callback for the result or the exception of `append`. It is called once, on any thread. It must not block or
raise."""


class Log(Protocol):
    """Records in the order in which they were added.

    Every adapter passes `covey.testing.contracts.LogContract`. All methods but `offer` block, so an event loop's thread
    must not call them. They are safe for several other threads at once. Any of them may raise a subclass of
    `Unavailable`, at the latest after the log's own timeout.
    """

    @property
    def name(self) -> str:
        """The location of the log, for people; without secrets."""
        ...

    @property
    def author(self) -> str | None:
        """The principal of this program's credentials, if the log verifies principals; otherwise None."""
        ...

    def survives(self) -> Survives:
        """Return the durability of an added record."""
        ...

    def state(self, at_least: int = 0) -> LogState | None:
        """Return the present state of the log, with at least everything that was added before the call; None if there
        is no such log. If the answer has less than `at_least`, ask again until the timeout: the server that answered
        may be partitioned from the others."""
        ...

    def make(self) -> None:
        """Create the log, unless it exists."""
        ...

    def append(self, record: bytes, expected: int, record_id: str) -> int | None:
        """Append a record after the one at `expected`, and return its position once the record is durable. Return None,
        and append nothing, if `expected` was not the last position.

        If no answer comes, the call is repeated until the result is known: a record with the same id is never added
        twice. If the result is not known before the timeout, raise an error that says so.
        """
        ...

    def begin_append(self, record: bytes, expected: int, record_id: str, tell: AppendCallback) -> None:
        """Like `append`, but return at once and pass the result to `tell`. An event loop's thread may call this, once
        the log has been used."""
        ...

    def after(self, position: int, limit: int) -> Sequence[LogEntry] | None:
        """Return entries after a position, in their order: at most `limit`, and at least one if there are any. Return
        None if the next entry is no longer retained."""
        ...

    def listen(self, hear: RecordCallback) -> Callable[[], None]:
        """Pass entries of other writers to `hear` from now on, until the returned function is called. Entries that were
        added through this object may be left out. Entries may be missed, so a replica also polls."""
        ...

    def close(self) -> None:
        """Release all resources. Closing again does nothing."""
        ...


class LogSnapshots(Protocol):
    """Snapshots of a log. The newest two are retained, and the records after the older of them."""

    def newest(self) -> LogSnapshot | None:
        """Return the newest snapshot, or None."""
        ...

    def fetch(self, snapshot: LogSnapshot, file: str) -> None:
        """Write the content of a snapshot to a file. Raise StoreCorrupt if the content is damaged."""
        ...

    def keep(self, file: str, position: int) -> None:
        """Store a file as the snapshot at a position, unless there is a newer one. Then remove older snapshots, and the
        records that are no longer needed."""
        ...
