"""The write-ahead log of SQLite: checkpoints and syncs outside the writer lock.

SQLite's own checkpoint runs at the end of a commit, so every process waits for the checkpoint. Here a thread with its
own connection writes the log back beside the commits. The thread never catches up with writers that do not pause, and
SQLite restarts the log only after all of the log was written back. Therefore a long log is finished under the writer
lock, as soon as the thread is done with its part. Little is left to write by then.

SQLite's own full sync waits while the write lock is held, so processes wait for the disk one after the other. Here the
transaction is committed without a sync, the writer lock is released, and the log is synced before the caller learns of
the commit. A sync covers everything that was written to the log before, so a reported commit is durable together with
all commits that it depends on. A power cut between commit and sync loses only commits that were not reported. If a
checkpoint wrote the log back into the database meanwhile, SQLite has synced the log.
"""

import os
from collections.abc import Callable
from contextlib import suppress
from threading import Event, Thread
from typing import Final

import apsw

from covey.adapters.sqlite.engine.connection import CHECKPOINT_PAGES
from covey.adapters.sqlite.engine.files import StoreCondition, is_unconfirmed
from covey.disk.files import sync_data
from covey.threads import start_thread

PAGES: Final = CHECKPOINT_PAGES // 2
"""Pages between two checkpoints beside the commits. SQLite's own interval is longer. A shorter interval leaves less to
write each time, so a commit waits for less."""

LONG: Final = 3 * PAGES
"""Length at which a log is finished under the writer lock, once the thread has written the log back."""

MAX_PAGES: Final = 4 * PAGES
"""Length at which a log is finished under the writer lock, even if the thread is not done."""


class Checkpoints:
    """Checkpoints for the writing connection of one process. The thread and its connection start with the first long
    log."""

    def __init__(self, name: str, connect: Callable[[], apsw.Connection], condition: StoreCondition) -> None:
        self._name = name
        self._condition = condition
        self._connect = connect
        self._length = 0
        """Length of the log after the last commit."""
        self._next = PAGES
        """Length at which the thread is called next."""
        self._called = 0
        """Length of the log at the last call of the thread."""
        self._written = 0
        """Length of the log that the thread has written back."""
        self._bell = Event()
        self._is_closing = False
        self._thread: Thread | None = None

    def watch(self, connection: apsw.Connection) -> None:
        """Run the checkpoints of this connection in place of SQLite."""
        connection.set_wal_hook(self._after_commit)

    def close(self) -> None:
        """Let the thread finish its current checkpoint and end."""
        self._is_closing = True
        self._bell.set()
        if self._thread is not None:
            self._thread.join()

    def _after_commit(self, connection: apsw.Connection, _database: str, pages: int) -> int:
        if pages < self._length:  # SQLite has restarted the log
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
        # A commit meets every problem of the store and reports the problem.
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
            # After any other error, the commits are safe in the log: another process may be running a checkpoint.
            if is_unconfirmed(error):
                self._condition.stop(str(error))


class LogSync:
    """Syncs the log of the database at `path`. SQLite has no locks on that file that opening it here could disturb."""

    def __init__(self, path: str, condition: StoreCondition) -> None:
        self._path = f"{path}-wal"
        self._condition = condition
        self._descriptor: int | None = None

    def __call__(self) -> None:
        """Sync the log to the disk, and check that the path still names that log. If the sync fails, durability is
        unknown: raise StoreUnconfirmed and end all writes."""
        self._condition.check_confirmed()
        try:
            if self._descriptor is None:
                self._descriptor = os.open(self._path, os.O_RDWR | os.O_CLOEXEC)
            sync_data(self._descriptor)
        except OSError as error:
            self._condition.check()  # a removed log has a more precise error
            raise self._condition.unconfirmed(error) from error
        self._condition.check()

    def close(self) -> None:
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None
