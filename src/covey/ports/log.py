"""The log: one order of records that all machines of a space agree on, for stores that are replicas of it.

A replica holds what the records up to its position have led to. It adds a record only behind the last one that it
knows, so that whoever was first wins and everybody else looks again. Records are bytes to the log; what they mean is
the replica's business.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple, Protocol

from covey.ports.store import Survives


class Entry(NamedTuple):
    """A record where it stands in the log."""

    position: int
    """Counted from 1, without gaps."""
    record: bytes
    author: str | None = None
    """Whose credentials it was added with, as the log itself vouches for; None where the log does not tell people
    apart."""


class LogState(NamedTuple):
    """How a log stands at one moment."""

    identity: str
    """Another one when the log was deleted and made again."""
    first: int
    """The position of the oldest record that is kept."""
    last: int
    """The position of the newest; 0 in a new log."""


class Snapshot(NamedTuple):
    """What all records up to a position have led to, kept beside the log."""

    position: int
    name: str


Hear = Callable[[Entry | None], None]
"""Gets each entry as it is added, in their order; None where some may have been missed. Called on a thread of the
log's, never blocks for long, never raises."""


Tell = Callable[[int | BaseException | None], None]
"""Gets what `append` would have returned, or raised. Called once, on any thread; never blocks, never raises."""


class Log(Protocol):
    """Records in the order in which they were added.

    Every adapter passes `covey.testing.contracts.LogContract`. All methods block, so that an event loop's thread must
    not call them; any other thread may, several at once. Any of them may raise a subclass of `Unavailable`, at the
    latest after the log's own limit.
    """

    @property
    def name(self) -> str:
        """Where it is, for people; without secrets."""
        ...

    @property
    def author(self) -> str | None:
        """Whose credentials this program adds records with, where the log vouches for them."""
        ...

    def survives(self) -> Survives:
        """What an added record survives."""
        ...

    def state(self, at_least: int = 0) -> LogState | None:
        """Return how the log stands now: it has at least all that was added before the call. None where there is no
        such log. One that seems to have less than `at_least` is asked again until the limit: whoever answered may have
        been cut off from those who know better."""
        ...

    def make(self) -> None:
        """Make the log, unless there is one."""
        ...

    def append(self, record: bytes, expected: int, record_id: str) -> int | None:
        """Add a record behind the one at `expected`, and return its position once it is as safe as the log can make
        it; None where that was not the last one, and nothing was added.

        Where no answer comes it asks again until it knows, because a record with the same id is never added twice. If
        it does not learn in time whether the record was added it raises, and says so.
        """
        ...

    def offer(self, record: bytes, expected: int, record_id: str, tell: Tell) -> None:
        """Do the same without waiting for it; an event loop's thread may call this, once the log has been used. What
        comes of it is told."""
        ...

    def after(self, position: int, limit: int) -> Sequence[Entry] | None:
        """Return the entries that follow a position, in their order, up to `limit` of them; not always all that there
        are, but at least one while there are any. None where the next one is no longer kept."""
        ...

    def listen(self, hear: Hear) -> Callable[[], None]:
        """Tell of entries as others add them, from now on, until what is returned is called; what was added by way of
        this object may be left out. Never for certain: a replica looks by itself as well."""
        ...

    def close(self) -> None:
        """Let go. Closing again does nothing."""
        ...


class LogSnapshots(Protocol):
    """Snapshots of a log. The newest two are kept, and the records behind the older of them."""

    def newest(self) -> Snapshot | None:
        """Return the newest snapshot, if there is any."""
        ...

    def fetch(self, snapshot: Snapshot, file: str) -> None:
        """Write what a snapshot holds to a file. What is not as it was kept is StoreCorrupt."""
        ...

    def keep(self, file: str, position: int) -> None:
        """Keep a file as the snapshot at a position, unless there is a newer one; then let older ones go, and the
        records that nobody needs any more."""
        ...
