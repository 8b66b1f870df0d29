"""The store in the calling thread: for commands and hooks that live for some milliseconds."""

import os
from typing import TypeVar

from covey.adapters.sqlite.connection import Synchronous, absolute, capabilities, connect
from covey.adapters.sqlite.known import Known
from covey.adapters.sqlite.reader import Reader
from covey.adapters.sqlite.trouble import BUSY_LIMIT_S
from covey.adapters.sqlite.turnstile import Turnstile
from covey.adapters.sqlite.writer import Ring, Writer, ring_nobody
from covey.core.errors import StoreClosed
from covey.ports.store import Capabilities, Operation

T = TypeVar("T")


class SqliteStore:
    """For one thread. `commit` and `read` never suspend, so they can be driven without an event loop."""

    def __init__(
        self,
        path: str | os.PathLike[str],
        *,
        ring: Ring = ring_nobody,
        synchronous: Synchronous = "full",
        limit_s: float = BUSY_LIMIT_S,
    ) -> None:
        """Open the store, and make it where there is none. `limit_s` is how long a commit waits for its turn."""
        self.path = absolute(path)
        self._synchronous: Synchronous = synchronous
        self._limit_s = limit_s
        self._pid = os.getpid()
        self._is_running = False
        self._is_closed = False
        connection = connect(self.path, synchronous)
        known = Known()
        self._reader = Reader(connection, self.path, known)
        self._writer = Writer(connection, self.path, Turnstile(self.path), ring, known)

    @property
    def capabilities(self) -> Capabilities:
        return capabilities(self._synchronous)

    async def commit(self, operation: Operation[T], *, is_long: bool = False) -> T:
        del is_long  # the calling thread is the only one
        self._begin()
        try:
            return self._writer.alone(operation, self._limit_s)
        finally:
            self._is_running = False

    async def read(self, operation: Operation[T], *, is_long: bool = False) -> T:
        del is_long
        self._begin()
        try:
            return self._reader.alone(operation)
        finally:
            self._is_running = False

    async def close(self) -> None:
        if not self._is_closed:
            self._is_closed = True
            self._writer.close()

    def _begin(self) -> None:
        if self._is_closed:
            raise StoreClosed
        if self._is_running:
            raise RuntimeError("an operation awaits nothing but its transaction: this one began another on the store")
        if os.getpid() != self._pid:
            raise RuntimeError("a store does not go along through fork: open it again in the new process")
        self._is_running = True
