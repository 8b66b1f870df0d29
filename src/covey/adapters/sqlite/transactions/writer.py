"""The writer: operations that become durable together.

The operations of a batch share a transaction and one sync of the disk. A savepoint for each would cost as much as a
third of a send, because SQLite then keeps a copy of every page that it touches. So a batch runs without savepoints
first. An operation that raises before its first write, as refusals do, does not affect the other operations. If an
operation raises after a write, the batch is undone and runs again, with savepoints. The port allows this: an operation
may run more than once before it counts.
"""

from collections.abc import Callable, Sequence
from typing import TypeVar

import apsw

import covey.ports as ports
from covey.adapters.sqlite.engine.access import Access, ConnectionCache, on_one_cursor, statements
from covey.adapters.sqlite.engine.connection import Schema
from covey.adapters.sqlite.engine.files import BUSY_LIMIT_S, StoreCondition, concerns_store, explain, raise_explained
from covey.adapters.sqlite.engine.writer_lock import WriterLock
from covey.adapters.sqlite.records.mail import write_counts
from covey.adapters.sqlite.transactions.transaction import PendingOperation, Ring, SqliteTransaction
from covey.core.coroutine import finish
from covey.core.errors import CoveyError

T = TypeVar("T")

_SQL = statements("store")
_BEGIN = _SQL["begin"]
_COMMIT = _SQL["commit"]
_ROLLBACK = _SQL["rollback"]
_VERSION = _SQL["version"]


class FailedAfterWrite(Exception):
    """An operation raised after it had written."""


class Writer:
    """A writer on one connection, on one thread at a time."""

    def __init__(
        self,
        connection: apsw.Connection,
        path: str,
        turnstile: WriterLock,
        ring: Ring,
        condition: StoreCondition,
        known: ConnectionCache | None = None,
        sync: Callable[[], None] | None = None,
    ) -> None:
        """Make a writer. `sync` waits for the disk after a commit. None if SQLite syncs itself, or if no sync is
        wanted."""
        self._connection = connection
        self._path = path
        self._turnstile = turnstile
        self._ring = ring
        self._condition = condition
        self._sync = sync or condition.check_committed
        self._known = known or ConnectionCache()
        self._schema = Schema(connection, path)
        self._execute = on_one_cursor(connection)
        self._access = Access(self._execute, self._execute, self._known)
        self._transaction = SqliteTransaction(self._access)

    def alone(self, operation: "ports.Operation[T]", limit_s: float) -> T:
        """Run one operation and make it durable."""
        self._turnstile.enter(limit_s)
        try:
            self._begin()
            value = finish(operation(self._transaction))
            write_counts(self._access)
            self._execute(_COMMIT)
            self._sync()
        except (apsw.Error, UnicodeDecodeError) as error:
            self._undo()
            self._condition.raise_explained(error, self._access.filed)
        except BaseException:
            self._undo()
            raise
        finally:
            self._turnstile.leave()
        self._ring_topics()
        return value

    def begin_at_once(self) -> bool:
        """Begin a transaction if no wait is needed; tell whether the transaction began."""
        if not self._turnstile.enter_at_once():
            return False
        try:
            self._connection.set_busy_timeout(0)
            self._begin()
        except (apsw.Error, CoveyError):
            self.abandon()
            return False  # `begin` will meet the same error, and may wait
        finally:
            self._connection.set_busy_timeout(int(BUSY_LIMIT_S * 1000))
        return True

    def begin(self, limit_s: float | None = None) -> None:
        """Wait for the writer lock, for at most `limit_s` seconds if given, and begin a transaction."""
        self._turnstile.enter(limit_s)
        try:
            self._begin()
        except apsw.Error as error:
            self.abandon()
            raise_explained(self._path, error)
        except BaseException:
            self.abandon()
            raise

    def run(self, jobs: Sequence[PendingOperation]) -> None:
        """Run operations in the current transaction, each atomic by itself. An exception from this method concerns the
        store; the transaction is undone then."""
        try:
            self._run(jobs)
            write_counts(self._access)
        except apsw.Error as error:
            self.abandon()
            raise_explained(self._path, error)
        except BaseException:
            self.abandon()
            raise

    def begin_commit(self, tell: Callable[[], None]) -> bool:
        """Start the acceptance of a replica's batch if no thread is needed to wait for the answer. True: `tell` is
        called, on any thread, when it is time to commit. False: there is nothing to start. A batch that fails is
        undone."""
        del tell
        return False

    def is_taken(self) -> bool:
        """Tell whether the batch is accepted, so that `commit` takes no time."""
        return False

    def commit(self, *, is_light: bool = False) -> None:
        """Commit the transaction, release the writer lock, wait for the disk unless the commit is light, and ring. A
        commit that fails is undone. If only the sync fails, durability is unknown: StoreUnconfirmed. A write to files
        that are no longer the store's does not count: StoreMissing."""
        try:
            self._execute(_COMMIT)
        except apsw.Error as error:
            self._undo()
            self._condition.raise_explained(error)
        finally:
            self._turnstile.leave()
        try:
            self._condition.check_committed() if is_light else self._sync()
        except BaseException:
            self._transaction.topics.clear()
            raise
        self._ring_topics()

    def run_and_commit(self, jobs: Sequence[PendingOperation]) -> None:
        """Run operations in the current transaction, and commit."""
        self.run(jobs)
        self.commit()

    def abandon(self) -> None:
        """Undo the current transaction, if there is one, and release the writer lock."""
        self._undo()
        self._turnstile.leave()

    def close(self) -> None:
        self._turnstile.close()
        self._connection.close()

    def _begin(self) -> None:
        self._condition.check_writable()
        self._execute(_BEGIN)
        version = self._execute(_VERSION).get
        if version != self._known.version:
            self._schema.check()
        self._transaction.begin(version)

    def _run(self, jobs: Sequence[PendingOperation]) -> None:
        try:
            self._run_unmarked(jobs)
        except FailedAfterWrite:
            self._undo()
            self._begin()
            for job in jobs:
                self._run_marked(job)

    def _run_unmarked(self, jobs: Sequence[PendingOperation]) -> None:
        transaction, known, total_changes = self._transaction, self._known, self._connection.total_changes
        filed = self._access.filed
        for job in jobs:
            before, counted, rung, first = total_changes(), known.changes, len(transaction.topics), len(filed)
            try:
                job.value = finish(job.operation(transaction))
            except BaseException as error:
                if isinstance(error, apsw.Error) and concerns_store(error):
                    raise
                if (total_changes(), known.changes) != (before, counted):
                    raise FailedAfterWrite from None
                job.error = explain(self._path, error) if isinstance(error, UnicodeDecodeError) else error
                del transaction.topics[rung:]
            job.filed = filed[first:]

    def _run_marked(self, job: PendingOperation) -> None:
        rung, first = len(self._transaction.topics), len(self._access.filed)
        self._execute(_SQL["mark"])
        try:
            job.error = None
            job.value = finish(job.operation(self._transaction))
            write_counts(self._access)
            job.filed = self._access.filed[first:]
        except BaseException as error:
            if isinstance(error, apsw.Error) and concerns_store(error):
                raise
            job.error = explain(self._path, error) if isinstance(error, UnicodeDecodeError) else error
            del self._transaction.topics[rung:]
            self._execute(_SQL["undo"])
            self._known.forget()
        self._execute(_SQL["keep"])

    def _undo(self) -> None:
        self._known.forget()
        self._transaction.topics.clear()
        # SQLite has already rolled back if the disk was full or failed.
        if self._connection.in_transaction:
            self._execute(_ROLLBACK)

    def _ring_topics(self) -> None:
        topics = self._transaction.topics
        if topics:
            distinct = tuple(dict.fromkeys(topics))
            topics.clear()
            self._ring(distinct)
