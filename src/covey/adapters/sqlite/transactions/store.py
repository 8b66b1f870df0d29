"""The store in the calling thread, for commands and hooks that live for some milliseconds."""

import os
from typing import TypeVar

import covey.ports as ports
from covey.adapters.sqlite.engine.condition import Condition
from covey.adapters.sqlite.engine.connection import Synchronous, absolute, capabilities, connect
from covey.adapters.sqlite.engine.connection_cache import ConnectionCache
from covey.adapters.sqlite.engine.trouble import BUSY_LIMIT_S
from covey.adapters.sqlite.transactions.reader import Reader
from covey.adapters.sqlite.transactions.transaction import Ring, ring_nobody
from covey.core.errors import StoreClosed
from covey.core.late import late

T = TypeVar("T")


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
        self._condition = Condition(self.path)
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
            raise RuntimeError("an operation awaits nothing but its transaction: this one began another on the store")
        if os.getpid() != self._pid:
            raise RuntimeError("a store does not go along through fork: open it again in the new process")
        self._is_running = True
