"""The replica: a SQLite store that holds the result of a log's records.

Every part that finds the replica behind brings it up to date, under the writer lock: the follower thread, a read, or a
commit after a conflict. A record and its position are written in the same transaction. So each record is applied once,
by any process, even if a process is killed.
"""

import os
from collections.abc import Callable, Sequence
from threading import RLock
from time import monotonic, sleep
from typing import Final

import apsw

from covey.adapters.sqlite.engine.access import migration_names
from covey.adapters.sqlite.engine.connection import connect, missing_migrations
from covey.adapters.sqlite.engine.files import BUSY_LIMIT_S, raise_explained
from covey.adapters.sqlite.engine.writer_lock import WriterLock
from covey.adapters.sqlite.replica.applier import Applier, ApplyResult, DivergentEntry
from covey.adapters.sqlite.replica.record import LogRecord, LogRecordKind, decode, encode
from covey.adapters.sqlite.replica.recording import LogRecording
from covey.adapters.sqlite.replica.snapshots import begin_with
from covey.adapters.sqlite.replica.state import Pulse, make_replica
from covey.adapters.sqlite.transactions.replica_writer import ReplicaWriter
from covey.adapters.sqlite.transactions.store import Reader, SqliteStore
from covey.adapters.sqlite.transactions.transaction import Ring, ring_nobody
from covey.core.errors import LogDiverged, StoreCorrupt, Unavailable
from covey.core.late import late
from covey.core.reporting import Report, Reporting, report_nothing
from covey.ports.log import Log, LogEntry, LogSnapshots, LogState
from covey.ports.store import Capabilities

LOOK_AGAIN_S: Final = 0.1

BATCH: Final = 256
"""Number of records that are fetched and applied at once."""

Warn = Callable[[str], None]


class Replica:
    """The replica of a log at `path`. Safe for several threads."""

    def __init__(
        self,
        path: str,
        log: Log,
        snapshots: LogSnapshots | None,
        ring: Ring,
        warn: Warn,
        limit_s: float = BUSY_LIMIT_S,
        report: Report = report_nothing,
    ) -> None:
        """Make the replica if there is none, and bring it up to date with the log."""
        self.path = path
        self.log = log
        self.snapshots = snapshots
        self._ring = ring
        self.warn = warn
        self._limit_s = limit_s
        self._report = report
        self._lock = RLock()
        self._is_closed = False
        make_replica(path)
        self._pulse = Pulse(path)
        self._connection = connect(path, "normal")
        self._turnstile = WriterLock(path)
        self._applier = Applier(self._connection, path, log.name)
        try:
            self.refresh()
            self._agree_on_schema()
        except BaseException:
            self.close()
            raise

    @property
    def position(self) -> int:
        """The position of the last applied entry."""
        with self._lock:
            return self._applier.state().position

    def is_followed(self) -> bool:
        """Tell whether a follower applies new entries of the log to this replica."""
        return self._pulse.is_beating()

    def refresh(self) -> None:
        """Bring the replica up to date with the log."""
        self.catch_up(self._checked().last)

    def _go_beyond(self, position: int) -> None:
        """Refresh the replica if it has no entry after `position` yet."""
        if self.position <= position:
            self.refresh()

    def catch_up(self, last: int) -> None:
        """Apply entries until the replica is at `last` or later."""
        ends_at = monotonic() + self._limit_s
        begun = position = self.position
        with Reporting(self._report, "fetching records") as reporting:
            while position < last:
                entries = self.log.after(position, BATCH)
                if entries is None:
                    self._begin_with_snapshot()
                elif entries:
                    self.take_in(entries)
                else:
                    self._wait_for(last, ends_at)
                position = self.position
                if begun < position < last:
                    reporting.at(position - begun, last - begun)

    def take_in(self, entries: Sequence[LogEntry]) -> None:
        """Apply the new ones of these entries, and ring their topics."""
        applied = self._apply(entries)
        if applied.stranger is not None:
            void = self._judge(applied.stranger)
            if void is None:
                self._begin_with_snapshot()
                return
            applied = self._apply(entries, void)
        if applied.trouble is not None:
            raise applied.trouble

    def take_in_at_once(self, entry: LogEntry) -> bool:
        """Apply the next entry if no wait is needed; tell whether the entry was applied."""
        if not self._lock.acquire(blocking=False):
            return False
        try:
            if self._is_closed or not self._turnstile.enter_at_once():
                return False
            try:
                applied = self._applied_at_once(entry)
            finally:
                self._turnstile.leave()
        finally:
            self._lock.release()
        if applied is None:
            return False
        self._tell(applied)
        return applied.stranger is None and applied.trouble is None

    def _applied_at_once(self, entry: LogEntry) -> ApplyResult | None:
        self._connection.set_busy_timeout(0)
        try:
            return self._applier.apply_next(entry)
        except apsw.Error:
            return None  # `take_in` will meet the same error, and may wait
        finally:
            self._connection.set_busy_timeout(int(BUSY_LIMIT_S * 1000))

    def recording(self, connection: apsw.Connection) -> LogRecording:
        return LogRecording(connection, self.log, self._go_beyond)

    def capabilities(self) -> Capabilities:
        return Capabilities(self.log.survives(), shared=True, searchable=True)

    def close(self) -> None:
        with self._lock:
            if not self._is_closed:
                self._is_closed = True
                self._turnstile.close()
                self._connection.close()
                self._pulse.close()
        self.log.close()

    def _apply(self, entries: Sequence[LogEntry], void: int = 0) -> ApplyResult:
        with self._lock:
            if entries[-1].position <= self._applier.state().position:
                return ApplyResult([], [])  # another process or another thread has applied them
            self._turnstile.enter(self._limit_s)
            try:
                if entries[-1].position <= self._applier.state().position:
                    return ApplyResult([], [])  # the previous holder of the lock has applied them
                applied = self._applier.apply(entries, void)
            except apsw.Error as error:
                raise_explained(self.path, error)
            finally:
                self._turnstile.leave()
        self._tell(applied)
        return applied

    def _tell(self, applied: ApplyResult) -> None:
        for warning in applied.warnings:
            self.warn(warning)
        if applied.topics:
            self._ring(tuple(dict.fromkeys(applied.topics)))

    def _checked(self) -> LogState:
        """Return the state of the log. Raise LogDiverged if it is another log than before, or lacks applied entries."""
        with self._lock:
            known = self._applier.state()
        state = self.log.state()  # read last: another process may make the log or advance the replica meanwhile
        if not known.log:
            return self._adopt(state)
        if state is None:
            raise LogDiverged(self.log.name, self.path, "the log no longer exists")
        if known.log != state.identity:
            raise LogDiverged(self.log.name, self.path, "the log was deleted and created again")
        if state.last < known.position:
            state = self.log.state(known.position) or state
            if state.last < known.position:
                lost = f"the log ends at record {state.last}, and had records up to {known.position} before"
                raise LogDiverged(self.log.name, self.path, lost)
        return state

    def _adopt(self, state: LogState | None) -> LogState:
        """Follow this log from now on. If there is no log, make one."""
        while state is None:
            self.log.make()
            state = self.log.state()
        with self._lock:
            self._turnstile.enter(self._limit_s)
            try:
                if not self._applier.state().log:
                    self._applier.adopt(state.identity)
            finally:
                self._turnstile.leave()
        return state

    def _wait_for(self, last: int, ends_at: float) -> None:
        """Wait briefly for records that are in the log, but not yet on the server that was asked."""
        self._checked()  # raises if the log has lost the records
        if monotonic() >= ends_at:
            reason = f"record {last} of {self.log.name} could not be read for {self._limit_s:g} s"
            raise Unavailable(reason, log=self.log.name)
        sleep(LOOK_AGAIN_S)

    def _judge(self, stranger: DivergentEntry) -> int | None:
        """Return the position of the void record, if the log has the last valid record of this replica. Return None if
        the log no longer has it and only a snapshot can tell."""
        entry, state = stranger
        if state.record_at:
            known = self.log.after(state.record_at - 1, 1)
            if known is None:
                return None
            try:
                is_there = bool(known) and decode(self.log.name, known[0].record).id == state.record
            except StoreCorrupt:
                is_there = False
            if not is_there:
                reason = f"record {state.record_at} of the log is a different one"
                raise LogDiverged(self.log.name, self.path, reason)
        return entry.position

    def _begin_with_snapshot(self) -> None:
        """Replace the replica with the newest snapshot, because the log no longer has the next entries."""
        snapshot = self.snapshots.newest() if self.snapshots is not None else None
        with self._lock:
            if self.snapshots is None or snapshot is None or snapshot.position <= self._applier.state().position:
                raise LogDiverged(
                    self.log.name, self.path, "the log has neither the next record nor a snapshot with it"
                )
            staged = f"{self.path}-snapshot-{os.getpid()}"
            try:
                self.snapshots.fetch(snapshot, staged)
                self._turnstile.enter(self._limit_s)
                try:
                    begin_with(staged, self._connection, self.path)
                    self._applier.look_again()
                finally:
                    self._turnstile.leave()
            finally:
                if os.path.exists(staged):
                    os.unlink(staged)

    def _agree_on_schema(self) -> None:
        """Ensure that the log names all migrations of this version. The first program with a new migration appends
        them."""
        names = migration_names()
        while True:
            with self._lock:
                todo = missing_migrations(self._connection, self.path, names)
                state = self._applier.state()
            if not todo:
                return
            if self.log.author is not None:
                reason = "its tables are of an older Covey; the owner of the space must open it with this version first"
                raise Unavailable(f"{self.log.name}: {reason}", log=self.log.name)
            record_id = os.urandom(12).hex()
            record = LogRecord(record_id, state.record, LogRecordKind.SCHEMA, migrations=names)
            self.log.append(encode(record), state.position, record_id)
            self.refresh()


class ReplicaStore(SqliteStore):
    """A `SqliteStore` over a replica. Every read and every commit asks the log first."""

    def __init__(self, replica: Replica, *, ring: Ring = ring_nobody, limit_s: float = BUSY_LIMIT_S) -> None:
        """Open the store over a replica. `close` closes the replica too."""
        super().__init__(replica.path, ring=ring, synchronous="normal", limit_s=limit_s)
        self._replica = replica
        self._reader = Reader(self._connection, self.path, self._condition, self._known, replica.refresh)

    @late
    def _writer(self) -> ReplicaWriter:
        recording = self._replica.recording(self._connection)
        turnstile = WriterLock(self.path)
        return ReplicaWriter(
            self._connection, self.path, turnstile, self._ring, self._condition, recording, self._known
        )

    @property
    def capabilities(self) -> Capabilities:
        return self._replica.capabilities()

    async def close(self) -> None:
        await super().close()
        self._replica.close()
