"""Checkpoints: the log is written back into the database while others write, not in their turn.

SQLite's own checkpoint runs at the end of a commit, so that every process waits for it. Here a thread with a connection
of its own does it beside the commits. It never catches up with writers that do not pause, and only a log that was
written back to its end can begin anew: therefore a log that has grown long is finished in the turn after all, as soon
as the thread is done with it. Little is left to do by then.
"""

from collections.abc import Callable
from contextlib import suppress
from threading import Event, Thread
from typing import Final

import apsw

from covey.adapters.sqlite.engine.condition import Condition, is_unconfirmed
from covey.adapters.sqlite.engine.connection import CHECKPOINT_PAGES
from covey.threads import start_thread

PAGES: Final = CHECKPOINT_PAGES // 2
"""After so many pages more, the log is written back beside the commits. More often than SQLite would: there is less to
write each time, and so less that a commit has to wait for."""

LONG: Final = 3 * PAGES
"""A log of this length is finished in the turn, once the thread has written it back."""

MAX_PAGES: Final = 4 * PAGES
"""At this length it is finished in the turn, whatever the thread has done."""


class Checkpoints:
    """For the writing connection of one process. The thread and its connection begin with the first long log."""

    def __init__(self, name: str, connect: Callable[[], apsw.Connection], condition: Condition) -> None:
        self._name = name
        self._condition = condition
        self._connect = connect
        self._length = 0
        """Of the log, after the last commit."""
        self._next = PAGES
        """At which length the thread is called again."""
        self._called = 0
        """At which length it was called last."""
        self._written = 0
        """How long the log was that it has written back."""
        self._bell = Event()
        self._is_closing = False
        self._thread: Thread | None = None

    def watch(self, connection: apsw.Connection) -> None:
        """See to the log of this connection, instead of SQLite."""
        connection.set_wal_hook(self._after_commit)

    def close(self) -> None:
        """Let the thread finish what it does, and end."""
        self._is_closing = True
        self._bell.set()
        if self._thread is not None:
            self._thread.join()

    def _after_commit(self, connection: apsw.Connection, _database: str, pages: int) -> int:
        if pages < self._length:  # the log has begun anew
            self._next = PAGES
            self._written = 0
        self._length = pages
        is_due = pages >= self._next
        if is_due:
            self._next = pages + PAGES
        if self._written >= LONG or (is_due and pages >= MAX_PAGES):
            self._written = 0
            self._write_back(connection)
        elif is_due:
            self._called = pages
            self._ring()
        return apsw.SQLITE_OK

    def _ring(self) -> None:
        if self._thread is None:
            self._thread = start_thread(self._work, f"{self._name} checkpoints")
        self._bell.set()

    def _work(self) -> None:
        # Whatever is wrong with the store, a commit meets it and says so.
        with suppress(Exception):
            connection = self._connect()
            while self._bell.wait() and not self._is_closing:
                self._bell.clear()
                length = self._called
                self._write_back(connection)
                self._written = length
            connection.close()

    def _write_back(self, connection: apsw.Connection) -> None:
        try:
            connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_PASSIVE)
        except apsw.Error as error:
            # Otherwise another process may be at it, and what was committed is safe in the log.
            if is_unconfirmed(error):
                self._condition.stop(str(error))
