"""Application of log records to a replica: each record once, in log order, atomically.

An invalid record is skipped. Every replica comes to the same decision, because the decision depends on the log alone.
"""

from collections.abc import Sequence
from typing import NamedTuple

import apsw

from covey.adapters.sqlite.engine.access import Execute, on_one_cursor
from covey.adapters.sqlite.engine.migrations import migrate_to
from covey.adapters.sqlite.engine.statements import statements
from covey.adapters.sqlite.replica.record import Kind, Record, decode
from covey.adapters.sqlite.replica.rows import Misfit, Rewriter
from covey.adapters.sqlite.replica.rules import forgery
from covey.adapters.sqlite.replica.state import ReplicaState, read_state, write_state
from covey.core.errors import CoveyError, StoreCorrupt
from covey.core.ids import Topic
from covey.ports.log import LogEntry

_STORE = statements("store")


class Stranger(NamedTuple):
    """A record that follows another record than the last valid one of this replica. Either the record is void, or this
    replica has a record that the log does not have. Only the log can tell."""

    entry: LogEntry
    state: ReplicaState


class Applied(NamedTuple):
    topics: list[Topic]
    """Topics to ring."""
    warnings: list[str]
    stranger: Stranger | None = None
    trouble: CoveyError | None = None
    """The error that stopped the application. Records that were applied before stay applied."""


class Void(Exception):
    """A record that is invalid and does not count."""


class NotNext(Exception):
    """An entry that does not directly follow the last applied entry."""


class Applier:
    """An applier on one connection. The caller of `apply`, `apply_next` and `adopt` holds the writer lock."""

    def __init__(self, connection: apsw.Connection, path: str, log: str) -> None:
        self._connection = connection
        self._path = path
        self._log = log
        self._execute: Execute = on_one_cursor(connection)
        self._rewriter = Rewriter(connection)

    def state(self) -> ReplicaState:
        return read_state(self._execute)

    def adopt(self, identity: str) -> None:
        """Follow the log with this identity from now on."""
        write_state(self._execute, self.state()._replace(log=identity))

    def look_again(self) -> None:
        """Forget the table layout, because a snapshot has replaced the replica."""
        self._rewriter.look_again()

    def apply(self, entries: Sequence[LogEntry], void: int = 0) -> Applied:
        """Apply the entries after the current position. The entry at `void` does not count."""
        try:
            return self._together(entries, void)
        except Misfit:
            return self._one_by_one(entries, void)

    def apply_next(self, entry: LogEntry) -> Applied | None:
        """Apply an entry if it is the next one; otherwise return None."""
        try:
            return self._together([entry], 0, is_next=True)
        except NotNext:
            return None
        except Misfit:
            return self._one_by_one([entry], 0)

    def _one_by_one(self, entries: Sequence[LogEntry], void: int) -> Applied:
        """Apply each entry in its own transaction, because the partial writes of one of them must be undone."""
        whole = Applied([], [])
        for entry in entries:
            try:
                applied = self._together([entry], void)
            except Misfit as misfit:
                if entry.author is None:
                    # Only a program with the same rows can write this entry, so the rows of this replica are wrong.
                    reason = f"entry {entry.position} of {self._log} does not fit: {misfit}"
                    return whole._replace(trouble=StoreCorrupt(self._path, reason))
                applied = self._together([entry], entry.position, f"{entry.author} changed what is not so: {misfit}")
            whole.topics.extend(applied.topics)
            whole.warnings.extend(applied.warnings)
            if applied.stranger is not None or applied.trouble is not None:
                return whole._replace(stranger=applied.stranger, trouble=applied.trouble)
        return whole

    def _together(
        self,
        entries: Sequence[LogEntry],
        void: int,
        reason: str = "it was made behind a record that is not there",
        *,
        is_next: bool = False,
    ) -> Applied:
        execute = self._execute
        execute(_STORE["begin"])
        try:
            state = self.state()
            if is_next and entries[0].position != state.position + 1:
                raise NotNext
            applied = self._apply(entries, state, void, reason)
            execute(_STORE["commit"])
        except BaseException:
            if self._connection.in_transaction:
                execute(_STORE["rollback"])
            raise
        return applied

    def _apply(self, entries: Sequence[LogEntry], state: ReplicaState, void: int, reason: str) -> Applied:
        applied = Applied([], [])
        for entry in entries:
            if entry.position <= state.position:
                continue
            if entry.position > state.position + 1:
                break  # an entry is missing here; the log has it
            try:
                if entry.position == void:
                    raise Void(reason)
                record = self._record(entry)
                if record.after != state.record:
                    applied = applied._replace(stranger=Stranger(entry, state))
                    break
                self._take_in(entry, record)
            except Void as void_because:
                applied.warnings.append(f"entry {entry.position} of {self._log} does not count: {void_because}")
                state = state._replace(position=entry.position)
            except CoveyError as trouble:
                applied = applied._replace(trouble=trouble)
                break
            else:
                applied.topics.extend(record.topics)
                state = state._replace(position=entry.position, record=record.id, record_at=entry.position)
        write_state(self._execute, state)
        return applied

    def _record(self, entry: LogEntry) -> Record:
        try:
            return decode(self._log, entry.record)
        except StoreCorrupt as error:
            raise Void(error.details.get("reason")) from None

    def _take_in(self, entry: LogEntry, record: Record) -> None:
        if record.kind is Kind.SCHEMA:
            if entry.author is not None:
                raise Void(f"{entry.author} does not own the space, and so not its tables")
            migrate_to(self._connection, self._log, record.migrations)
            self._rewriter.look_again()
            return
        fault = forgery(entry.author, record.rows)
        if fault is not None:
            raise Void(fault)
        self._rewriter.write(record.rows)
