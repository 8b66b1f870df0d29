"""Application of log records to a replica: each record once, in log order, atomically.

An invalid record is skipped. Every replica comes to the same decision, because the decision depends on the log alone.
"""

from collections.abc import Sequence
from typing import NamedTuple

import apsw

from covey.adapters.sqlite.engine.access import Execute, on_one_cursor, statements
from covey.adapters.sqlite.engine.connection import migrate_to
from covey.adapters.sqlite.replica.record import LogRecord, LogRecordKind, RowMismatch, RowWriter, decode
from covey.adapters.sqlite.replica.recording import forgery
from covey.adapters.sqlite.replica.state import ReplicaState, read_state, write_state
from covey.core.errors import CoveyError, StoreCorrupt
from covey.core.names import Topic
from covey.ports.log import LogEntry

_STORE = statements("store")


class DivergentEntry(NamedTuple):
    """A record that follows another record than the last valid one of this replica. Either the record is void, or this
    replica has a record that the log does not have. Only the log can tell."""

    entry: LogEntry
    state: ReplicaState


class ApplyResult(NamedTuple):
    topics: list[Topic]
    """Topics to ring."""
    warnings: list[str]
    stranger: DivergentEntry | None = None
    trouble: CoveyError | None = None
    """The error that stopped the application. Records that were applied before stay applied."""


class InvalidRecord(Exception):
    """A record that is invalid and does not count."""


class PositionGap(Exception):
    """An entry that does not directly follow the last applied entry."""


class Applier:
    """An applier on one connection. The caller of `apply`, `apply_next` and `adopt` holds the writer lock."""

    def __init__(self, connection: apsw.Connection, path: str, log: str) -> None:
        self._connection = connection
        self._path = path
        self._log = log
        self._execute: Execute = on_one_cursor(connection)
        self._rewriter = RowWriter(connection)

    def state(self) -> ReplicaState:
        return read_state(self._execute)

    def adopt(self, identity: str) -> None:
        """Follow the log with this identity from now on."""
        write_state(self._execute, self.state()._replace(log=identity))

    def look_again(self) -> None:
        """Forget the table layout, because a snapshot has replaced the replica."""
        self._rewriter.look_again()

    def apply(self, entries: Sequence[LogEntry], void: int = 0) -> ApplyResult:
        """Apply the entries after the current position. The entry at `void` does not count."""
        try:
            return self._together(entries, void)
        except RowMismatch:
            return self._one_by_one(entries, void)

    def apply_next(self, entry: LogEntry) -> ApplyResult | None:
        """Apply an entry if it is the next one; otherwise return None."""
        try:
            return self._together([entry], 0, is_next=True)
        except PositionGap:
            return None
        except RowMismatch:
            return self._one_by_one([entry], 0)

    def _one_by_one(self, entries: Sequence[LogEntry], void: int) -> ApplyResult:
        """Apply each entry in its own transaction, because the partial writes of one of them must be undone."""
        whole = ApplyResult([], [])
        for entry in entries:
            try:
                applied = self._together([entry], void)
            except RowMismatch as misfit:
                if entry.author is None:
                    # Only a program with the same rows can write this entry, so the rows of this replica are wrong.
                    reason = f"entry {entry.position} of {self._log} does not match this replica: {misfit}"
                    return whole._replace(trouble=StoreCorrupt(self._path, reason))
                applied = self._together(
                    [entry], entry.position, f"{entry.author} changed a row that does not match: {misfit}"
                )
            whole.topics.extend(applied.topics)
            whole.warnings.extend(applied.warnings)
            if applied.stranger is not None or applied.trouble is not None:
                return whole._replace(stranger=applied.stranger, trouble=applied.trouble)
        return whole

    def _together(
        self,
        entries: Sequence[LogEntry],
        void: int,
        reason: str = "it follows a record that does not exist",
        *,
        is_next: bool = False,
    ) -> ApplyResult:
        execute = self._execute
        execute(_STORE["begin"])
        try:
            state = self.state()
            if is_next and entries[0].position != state.position + 1:
                raise PositionGap
            applied = self._apply(entries, state, void, reason)
            execute(_STORE["commit"])
        except BaseException:
            if self._connection.in_transaction:
                execute(_STORE["rollback"])
            raise
        return applied

    def _apply(self, entries: Sequence[LogEntry], state: ReplicaState, void: int, reason: str) -> ApplyResult:
        applied = ApplyResult([], [])
        for entry in entries:
            if entry.position <= state.position:
                continue
            if entry.position > state.position + 1:
                break  # an entry is missing here; the log has it
            try:
                if entry.position == void:
                    raise InvalidRecord(reason)
                record = self._record(entry)
                if record.after != state.record:
                    applied = applied._replace(stranger=DivergentEntry(entry, state))
                    break
                self._take_in(entry, record)
            except InvalidRecord as void_because:
                applied.warnings.append(f"entry {entry.position} of {self._log} is ignored: {void_because}")
                state = state._replace(position=entry.position)
            except CoveyError as trouble:
                applied = applied._replace(trouble=trouble)
                break
            else:
                applied.topics.extend(record.topics)
                state = state._replace(position=entry.position, record=record.id, record_at=entry.position)
        write_state(self._execute, state)
        return applied

    def _record(self, entry: LogEntry) -> LogRecord:
        try:
            return decode(self._log, entry.record)
        except StoreCorrupt as error:
            raise InvalidRecord(error.details.get("reason")) from None

    def _take_in(self, entry: LogEntry, record: LogRecord) -> None:
        if record.kind is LogRecordKind.SCHEMA:
            if entry.author is not None:
                raise InvalidRecord(f"{entry.author} does not own the space, and can't change its tables")
            migrate_to(self._connection, self._log, record.migrations)
            self._rewriter.look_again()
            return
        fault = forgery(entry.author, record.rows)
        if fault is not None:
            raise InvalidRecord(fault)
        self._rewriter.write(record.rows)
