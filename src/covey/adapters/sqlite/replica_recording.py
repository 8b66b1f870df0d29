"""Recording: what a transaction changes, and its record in the log before it may count.

A record is added behind the one up to which the replica has come. So when it is added, everything that the operations
of the transaction saw was still true, also for those that only looked or were refused.
"""

import os
from collections.abc import Callable
from typing import Final

import apsw

from covey.adapters.sqlite.access import on_one_cursor
from covey.adapters.sqlite.replica_changes import Changes
from covey.adapters.sqlite.replica_record import Record, encode
from covey.adapters.sqlite.replica_rows import Catcher
from covey.adapters.sqlite.replica_rules import forgery
from covey.adapters.sqlite.replica_state import ReplicaState, read_state, write_state
from covey.core.errors import IdentityRefused
from covey.core.ids import Topic
from covey.ports.log import Log

MANY: Final = 5
"""From so many operations in a transaction on, a changeset costs less than catching rows."""


class LogRecording:
    """On the connection of one writer, which has the turn while a transaction is under way."""

    def __init__(self, connection: apsw.Connection, log: Log, go_beyond: Callable[[int], None]) -> None:
        self._connection = connection
        self._log = log
        self._go_beyond = go_beyond
        self._position = 0
        """Behind which the last record was to be added."""
        self._execute = on_one_cursor(connection)
        self._catcher = Catcher(connection)
        self._changes: Changes | None = None

    def begin(self, count: int) -> None:
        self.end()
        if count >= MANY:
            self._changes = Changes(self._connection)
        else:
            self._catcher.begin()

    def mark(self) -> int:
        return len(self._catcher.rows)

    def undo_to(self, mark: int) -> None:
        del self._catcher.rows[mark:]

    def end(self) -> None:
        self._catcher.stop()
        if self._changes is not None:
            self._changes.drop()
            self._changes = None

    def is_accepted(self, topics: list[Topic]) -> bool:
        state = read_state(self._execute)
        self._position = state.position
        record = self._record(topics, state)
        self.end()
        if not (record.rows or record.changeset or record.topics):
            log = self._log.state()
            return log is not None and log.last <= state.position
        fault = forgery(self._log.author, record.rows, record.changeset)
        if fault is not None:
            raise IdentityRefused(fault)
        position = self._log.append(encode(record), state.position, record.id)
        if position is None:
            return False
        write_state(self._execute, ReplicaState(state.log, position, record.id, position))
        return True

    def catch_up(self) -> None:
        self._go_beyond(self._position)

    def _record(self, topics: list[Topic], state: ReplicaState) -> Record:
        record = Record(os.urandom(12).hex(), state.record, topics=tuple(dict.fromkeys(topics)))
        if self._changes is None:
            return record._replace(rows=tuple(self._catcher.rows))
        changes, self._changes = self._changes, None
        return record._replace(changeset=changes.take())
