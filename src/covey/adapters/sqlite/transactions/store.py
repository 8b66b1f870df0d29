"""The store in the calling thread, for commands and hooks that live for some milliseconds, and its reader."""

import os
from collections.abc import Callable, Sequence
from typing import TypeVar

import apsw

import covey.ports as ports
from covey.adapters.sqlite.engine.access import Access, ConnectionCache, on_one_cursor, refuse, statements
from covey.adapters.sqlite.engine.connection import Schema, Synchronous, absolute, capabilities, connect
from covey.adapters.sqlite.engine.files import BUSY_LIMIT_S, StoreCondition, explain, raise_explained
from covey.adapters.sqlite.transactions.transaction import PendingOperation, Ring, SqliteTransaction, ring_nobody
from covey.core.coroutine import finish
from covey.core.errors import StoreClosed
from covey.core.late import late

T = TypeVar("T")

_SQL = statements("store")
_VIEW = _SQL["view"]
_END = _SQL["commit"]
_VERSION = _SQL["version"]


class Reader:
    """A reader on one connection, on one thread."""

    def __init__(
        self,
        connection: apsw.Connection,
        path: str,
        condition: StoreCondition,
        known: ConnectionCache | None = None,
        refresh: Callable[[], None] | None = None,
    ) -> None:
        self._refresh = refresh
        """Brings a replica up to date before a read. None if no refresh is needed."""
        self._condition = condition
        self._connection = connection
        self._path = path
        self._known = known or ConnectionCache()
        self._schema = Schema(connection, path)
        self._execute = on_one_cursor(connection)
        self._access = Access(self._execute, refuse, self._known)
        self._transaction = SqliteTransaction(self._access)

    def alone(self, operation: "ports.Operation[T]") -> T:
        """Run one operation."""
        if self._refresh is not None:
            self._refresh()
        try:
            self._begin()
            return finish(operation(self._transaction))
        except (apsw.Error, UnicodeDecodeError) as error:
            raise_explained(self._path, error)
        finally:
            self._end()

    def together(self, take: Callable[[], Sequence[PendingOperation]]) -> Sequence[PendingOperation]:
        """Run all operations that `take` returns over one snapshot, which is not older than any of them."""
        jobs = take()
        if self._refresh is not None:
            self._refresh()
        try:
            self._begin()
            for job in jobs:
                self._run(job)
        except apsw.Error as error:
            raise_explained(self._path, error)
        finally:
            self._end()
        return jobs

    def close(self) -> None:
        self._connection.close()

    def _run(self, job: PendingOperation) -> None:
        try:
            job.value = finish(job.operation(self._transaction))
        except (apsw.Error, UnicodeDecodeError) as error:
            job.error = explain(self._path, error)
        except BaseException as error:  # noqa: BLE001 - the caller that awaits the job gets it
            job.error = error

    def _begin(self) -> None:
        self._condition.check_database()
        self._execute(_VIEW)
        version = self._execute(_VERSION).get
        if version != self._known.version:
            self._schema.check()
        self._transaction.begin(version)

    def _end(self) -> None:
        self._transaction.topics.clear()
        if self._connection.in_transaction:
            try:
                self._execute(_END)
            except apsw.Error as error:  # on a damaged file even the end of a read can fail
                if self._connection.in_transaction:
                    self._execute(_SQL["rollback"])
                raise_explained(self._path, error)


class SqliteStore:
    """A store for one thread. `commit` and `read` never suspend, so they can be driven without an event loop."""

    def __init__(
        self,
        path: str | os.PathLike[str],
        *,
        ring: Ring = ring_nobody,
        synchronous: Synchronous = "full",
        limit_s: float = BUSY_LIMIT_S,
    ) -> None:
        """Open the store, and make it if there is none. `limit_s` is the timeout of a commit for the writer lock."""
        self.path = absolute(path)
        self._synchronous: Synchronous = synchronous
        self._limit_s = limit_s
        self._pid = os.getpid()
        self._is_running = False
        self._is_closed = False
        self._ring = ring
        self._known = ConnectionCache()
        self._condition = StoreCondition(self.path)
        self._connection = connect(self.path, synchronous)
        try:
            self._condition.opened(self._connection)
        except BaseException:
            self._connection.close()
            raise
        self._reader = Reader(self._connection, self.path, self._condition, self._known)

    @late
    def _writer(self):
        from covey.adapters.sqlite.engine.writer_lock import WriterLock
        from covey.adapters.sqlite.transactions.writer import Writer

        return Writer(self._connection, self.path, WriterLock(self.path), self._ring, self._condition, self._known)

    @property
    def capabilities(self) -> "ports.Capabilities":
        return capabilities(self._synchronous)

    async def commit(self, operation: "ports.Operation[T]", *, is_long: bool = False, is_light: bool = False) -> T:
        del is_long, is_light  # there is only the calling thread, and no event loop that it could block
        self._begin()
        try:
            return self._writer.alone(operation, self._limit_s)
        finally:
            self._is_running = False

    async def read(self, operation: "ports.Operation[T]", *, is_long: bool = False) -> T:
        del is_long
        self._begin()
        try:
            return self._reader.alone(operation)
        finally:
            self._is_running = False

    async def close(self) -> None:
        if not self._is_closed and os.getpid() == self._pid:
            self._is_closed = True
            if "_writer" in vars(self):  # a late property is in the instance's dict once it was used
                self._writer.close()
            else:
                self._reader.close()

    def _begin(self) -> None:
        if self._is_closed:
            raise StoreClosed
        if self._is_running:
            raise RuntimeError("an operation may await only its transaction: this one began another on the store")
        if os.getpid() != self._pid:
            raise RuntimeError("a store can't be used after a fork: open it again in the new process")
        self._is_running = True
