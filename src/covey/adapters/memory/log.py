"""A log in memory, for several replicas in one process."""

from collections.abc import Callable, Sequence
from threading import RLock
from uuid import uuid4

from covey.core.errors import BlobMissing
from covey.ports.log import AppendCallback, LogEntry, LogSnapshot, LogState, RecordCallback
from covey.ports.store import Survives


class MemoryLog:
    """Both `Log` and `LogSnapshots`."""

    def __init__(self, author: str | None = None, shared: "_Shared | None" = None) -> None:
        self._shared = shared or _Shared()
        self._author = author
        self.name = "memory"

    def another(self, author: str | None = None) -> "MemoryLog":
        """Return the same log, as another program opens it."""
        return MemoryLog(author, self._shared)

    @property
    def author(self) -> str | None:
        return self._author

    def survives(self) -> Survives:
        return Survives.NOTHING

    def state(self, at_least: int = 0) -> LogState:
        del at_least  # there is no server that could lag
        shared = self._shared
        with shared.lock:
            return LogState(shared.identity, shared.first, shared.last)

    def make(self) -> None:
        """Do nothing: this log always exists."""

    def append(self, record: bytes, expected: int, record_id: str) -> int | None:
        del record_id  # the answer is never lost, so no retry needs the id
        shared = self._shared
        with shared.lock:
            if shared.last != expected:
                return None
            entry = LogEntry(expected + 1, record, self._author)
            shared.entries.append(entry)
            for hear in tuple(shared.hearing):
                hear(entry)
        return entry.position

    def begin_append(self, record: bytes, expected: int, record_id: str, tell: AppendCallback) -> None:
        tell(self.append(record, expected, record_id))

    def after(self, position: int, limit: int) -> Sequence[LogEntry] | None:
        shared = self._shared
        with shared.lock:
            start = position + 1 - shared.first
            return None if start < 0 else shared.entries[start : start + limit]

    def listen(self, hear: RecordCallback) -> Callable[[], None]:
        hearing = self._shared.hearing
        hearing.append(hear)

        def stop() -> None:
            if hear in hearing:
                hearing.remove(hear)

        return stop

    def newest(self) -> LogSnapshot | None:
        snapshots = self._shared.snapshots
        return LogSnapshot(max(snapshots), str(max(snapshots))) if snapshots else None

    def fetch(self, snapshot: LogSnapshot, file: str) -> None:
        content = self._shared.snapshots.get(snapshot.position)
        if content is None:
            raise BlobMissing(snapshot.name)
        with open(file, "wb") as out:
            out.write(content)

    def keep(self, file: str, position: int) -> None:
        shared = self._shared
        with open(file, "rb") as content, shared.lock:
            if position > max(shared.snapshots, default=0):
                shared.snapshots[position] = content.read()
                shared.forget()

    def begin_anew(self) -> None:
        """Delete the log and make it again, as an operator may do."""
        self._shared.begin_anew()

    def forget_snapshots(self) -> None:
        """Delete all snapshots."""
        self._shared.snapshots.clear()

    def lose(self, count: int) -> None:
        """Drop the newest records, like a server that confirmed records before its disk had them."""
        with self._shared.lock:
            del self._shared.entries[-count:]

    def attribute(self, position: int, author: str) -> None:
        """Set the author of a record, as if it was appended with the credentials of `author`."""
        with self._shared.lock:
            entries = self._shared.entries
            at = position - self._shared.first
            entries[at] = entries[at]._replace(author=author)

    def close(self) -> None:
        """Do nothing: this log holds no resources."""


class _Shared:
    """The state that all objects of the same log share."""

    def __init__(self) -> None:
        self.lock = RLock()
        self.hearing: list[RecordCallback] = []
        self.begin_anew()

    def begin_anew(self) -> None:
        self.identity = uuid4().hex
        self.first = 1
        self.entries: list[LogEntry] = []
        self.snapshots: dict[int, bytes] = {}

    @property
    def last(self) -> int:
        return self.first + len(self.entries) - 1

    def forget(self) -> None:
        """Keep two snapshots, and the records after the older one."""
        kept = sorted(self.snapshots)[-2:]
        self.snapshots = {position: self.snapshots[position] for position in kept}
        if len(kept) == 2:
            del self.entries[: kept[0] + 1 - self.first]
            self.first = max(self.first, kept[0] + 1)
