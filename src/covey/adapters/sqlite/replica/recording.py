"""Recording: the changes of a transaction, and their record in the log before the commit.

A record is appended directly after the last record that the replica has applied. So when the append succeeds,
everything that the operations of the transaction read is still true, also for operations that only read or were
refused. A record with an author is checked: an agent sends only in its own name or in the name of the space.
"""

import os
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final, cast

import apsw

from covey.adapters.sqlite.engine.access import Execute, on_one_cursor
from covey.adapters.sqlite.replica.record import (
    DELETE,
    DOCUMENT,
    INSERT,
    LOCAL_TABLES,
    MESSAGES,
    UPDATE,
    ChangedRow,
    LogRecord,
    PlainInsert,
    encode,
    length_of,
    plain_insert,
    table_layouts,
)
from covey.adapters.sqlite.replica.state import ReplicaState, read_state, write_state
from covey.core.errors import IdentityRefused, Rejected
from covey.core.ledger.marks import BY_WHOLE_SPACE
from covey.core.ledger.wire import decode
from covey.core.names import SPACE, Topic
from covey.ports.log import Log

_ID_COLUMN: Final = 1
_SENDER_COLUMN: Final = 6
_SWEPT_COLUMN: Final = 8
"""Places of columns in the messages table, like DOCUMENT."""


def forgery(author: str | None, rows: Iterable[ChangedRow]) -> str | None:
    """Return the first fault of the messages in a record of this author, or None. Without an author, the log does not
    authenticate its writers, and the messages are not checked."""
    if author is None:
        return None
    for row in rows:
        if row[0] == MESSAGES:
            reason = _fault(author, row)
            if reason is not None:
                return reason
    return None


def _fault(author: str, row: ChangedRow) -> str | None:
    _, change, _, values = row
    if change == DELETE:
        return None
    try:
        if change == UPDATE:
            changed = [place for place, _ in values]
            return None if changed == [_SWEPT_COLUMN] else f"{author} changed a message that was accepted"
        written, message_id, sender = decode(values[DOCUMENT]), values[_ID_COLUMN], values[_SENDER_COLUMN]
    except (Rejected, LookupError, TypeError, ValueError, AttributeError):
        return f"{author} wrote an invalid message"
    if written.id != message_id or written.sender.agent != sender:
        return f"{author} wrote a message whose columns contradict its document"
    if written.sender.agent not in (author, SPACE):
        return f"{author} sent a message as {written.sender.agent}"
    if written.marks is not None and any(getattr(written.marks, name) is not None for name in BY_WHOLE_SPACE):
        return f"{author} wrote marks that only a program for the whole space sets"
    return None


class ChangeCollector:
    """Collects the rows that change on a connection."""

    def __init__(self, connection: apsw.Connection) -> None:
        self._connection = connection
        self._shapes = table_layouts(connection)
        self._plain: dict[str, PlainInsert | None] = {}
        """Statements that ran, with the plain insert that each makes."""
        self._is_hooked = False
        self.rows: list[ChangedRow] = []

    def begin(self) -> None:
        """Start a new collection; drop the previous one."""
        self.rows.clear()

    def stop(self) -> None:
        """Drop the collection, and stop collecting."""
        self.rows.clear()
        self._hook(is_on=False)

    def through(self, execute: Execute) -> Execute:
        """Return a callable that runs statements and collects their rows: from the values of a plain insert, and
        otherwise from SQLite's hook. Statements whose rows must be collected have to run through this callable."""
        connection, rows, known = self._connection, self.rows, self._plain

        def write(statement: str, values: tuple[Any, ...] = (), /) -> apsw.Cursor:
            try:
                plain = known[statement]
            except KeyError:
                plain = known[statement] = plain_insert(statement, self._shapes)
            if plain is None:
                if not self._is_hooked:
                    self._hook(is_on=True)
                return execute(statement, values)
            if self._is_hooked:
                self._hook(is_on=False)
            table, rest, arrange, place = plain
            cursor = execute(statement, values)
            rowid = connection.last_insert_rowid() if place is None else values[place]
            rows.append((table, INSERT, rowid, values if arrange is None else arrange((*values, *rest, rowid))))
            return cursor

        return write

    def _hook(self, *, is_on: bool) -> None:
        self._is_hooked = is_on
        self._connection.preupdate_hook(self._note if is_on else None)

    def _note(self, update: apsw.PreUpdate) -> None:
        table = update.table_name
        if table in LOCAL_TABLES:
            return
        change = update.opcode
        if change == apsw.SQLITE_INSERT:
            self.rows.append((table, INSERT, update.rowid, cast(Sequence[Any], update.new)))  # pyright: ignore[reportUnknownMemberType] # as declared by apsw
            return
        shape = self._shapes[table]
        key: int | Sequence[Any] = update.rowid
        if shape.key:
            old = cast(Sequence[Any], update.old)  # pyright: ignore[reportUnknownMemberType] # likewise
            key = [old[place] for place in shape.key]
        if change == apsw.SQLITE_DELETE:
            self.rows.append((table, DELETE, key, ()))
            return
        new = cast(Sequence[Any], update.update)  # pyright: ignore[reportUnknownMemberType] # likewise
        pairs = [(place, value) for place, value in enumerate(new) if value is not apsw.no_change]
        if pairs:
            self.rows.append((table, UPDATE, key, pairs))


AT_ONCE: Final = 512 * 1024
"""Length limit of records that are built on the event loop. Longer records are built on a thread."""


class LogRecording:
    """The recording of one writer's connection. The writer holds the writer lock during a transaction."""

    def __init__(self, connection: apsw.Connection, log: Log, go_beyond: Callable[[int], None]) -> None:
        self._connection = connection
        self._log = log
        self._go_beyond = go_beyond
        self._position = 0
        """The position after which the last record was to be appended."""
        self._execute = on_one_cursor(connection)
        self._catcher = ChangeCollector(connection)
        self._offered: _OfferedRecord | None = None

    def through(self, execute: Execute) -> Execute:
        return self._catcher.through(execute)

    def begin(self) -> None:
        self._offered = None
        self._catcher.begin()

    def mark(self) -> int:
        return len(self._catcher.rows)

    def undo_to(self, mark: int) -> None:
        del self._catcher.rows[mark:]

    def end(self) -> None:
        self._catcher.stop()

    def begin_commit(self, topics: list[Topic], tell: Callable[[], None]) -> bool:
        rows = self._catcher.rows
        if not (rows or topics) or length_of(rows) > AT_ONCE or self._fault() is not None:
            return False
        offered = self._offered = self._offer(topics)

        def told(outcome: int | BaseException | None) -> None:
            offered.outcome = outcome
            tell()

        self._log.begin_append(offered.document, offered.state.position, offered.record_id, told)
        return True

    def is_taken(self) -> bool:
        return self._offered is not None and isinstance(self._offered.outcome, int)

    def is_accepted(self, topics: list[Topic]) -> bool:
        offered, self._offered = self._offered, None
        if offered is None:
            if not (self._catcher.rows or topics):
                return self._is_last()
            fault = self._fault()
            if fault is not None:
                raise IdentityRefused(fault)
            offered = self._offer(topics)
            offered.outcome = self._log.append(offered.document, offered.state.position, offered.record_id)
        position = offered.outcome
        if isinstance(position, BaseException):
            raise position
        if position is None:
            return False
        state = ReplicaState(offered.state.log, position, offered.record_id, position)
        write_state(self._execute, state)
        return True

    def catch_up(self) -> None:
        self._go_beyond(self._position)

    def _offer(self, topics: list[Topic]) -> "_OfferedRecord":
        state = read_state(self._execute)
        self._position = state.position
        distinct = tuple(dict.fromkeys(topics))
        record = LogRecord(os.urandom(12).hex(), state.record, topics=distinct, rows=self._catcher.rows)
        document = encode(record)
        self.end()
        return _OfferedRecord(state, record.id, document)

    def _fault(self) -> str | None:
        return forgery(self._log.author, self._catcher.rows)

    def _is_last(self) -> bool:
        """Tell whether the log has no new entry since a transaction that only read."""
        state = read_state(self._execute)
        self._position = state.position
        self.end()
        log = self._log.state()
        return log is not None and log.last <= state.position


class _OfferedRecord:
    """A record that is offered to the log."""

    __slots__ = ("document", "outcome", "record_id", "state")

    def __init__(self, state: ReplicaState, record_id: str, document: bytes) -> None:
        self.state = state
        self.record_id = record_id
        self.document = document
        self.outcome: int | BaseException | None = None
        """The answer of the log: the position of the record, an error, or None for a conflict."""
