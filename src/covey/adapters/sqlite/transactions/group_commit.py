"""The store for programs with an event loop: group commit, and a thread for reads."""

import os
from collections.abc import Sequence
from functools import partial
from types import CoroutineType
from typing import Any, TypeVar

import apsw

from covey.adapters.sqlite.engine.connection import Synchronous, absolute, capabilities, connect
from covey.adapters.sqlite.engine.files import BUSY_LIMIT_S, StoreCondition
from covey.adapters.sqlite.engine.wal import Checkpoints, LogSync
from covey.adapters.sqlite.engine.writer_lock import WriterLock
from covey.adapters.sqlite.transactions.commit_queue import CommitQueue
from covey.adapters.sqlite.transactions.read_queue import ReadQueue
from covey.adapters.sqlite.transactions.replica_writer import Replication, ReplicaWriter
from covey.adapters.sqlite.transactions.store import Reader
from covey.adapters.sqlite.transactions.transaction import Ring, ring_nobody
from covey.adapters.sqlite.transactions.writer import Writer
from covey.core.errors import StoreClosed
from covey.ports.store import Capabilities, Operation

T = TypeVar("T")

_forks = 0
"""Number of forks between this process and the process that first loaded this module."""


def _count_fork() -> None:
    global _forks
    _forks += 1


os.register_at_fork(after_in_child=_count_fork)


class GroupCommit:
    """Group commit: commits that wait at the same time share one transaction, and so one sync of the disk.

    Each commit is still atomic: a commit that raises is undone alone. A commit whose task is cancelled before it starts
    never happens; a commit that has started is finished. A commit that waits longer than the limit raises StoreBusy and
    never happens.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        *,
        ring: Ring = ring_nobody,
        synchronous: Synchronous = "full",
        limit_s: float = BUSY_LIMIT_S,
        replica: Replication | None = None,
    ) -> None:
        """Open the store, and make it if there is none. With `replica`, the store is a replica, and the replica's log
        accepts its commits."""
        self.path = absolute(path)
        self._synchronous: Synchronous = synchronous
        self._forks = _forks
        self.condition = condition = StoreCondition(self.path)
        self._log = LogSync(self.path, condition)
        sync = self._log if synchronous == "full" else None
        connection, for_short, for_long = _connect(self.path, synchronous, condition)
        self._checkpoints = Checkpoints(f"covey {self.path}", partial(_connect_again, self.path, condition), condition)
        self._checkpoints.watch(connection)
        turnstile = WriterLock(self.path)
        if replica is None:
            writer = Writer(connection, self.path, turnstile, ring, condition, sync=sync)
        else:
            recording = replica.recording(connection)
            writer = ReplicaWriter(connection, self.path, turnstile, ring, condition, recording)
        self._reader = Reader(for_short, self.path, condition)
        """Runs short reads on the calling thread: handing them to another thread and back would take longer."""
        self._replica = replica
        refresh = None if replica is None else partial(_refresh, replica)
        reader = Reader(for_long, self.path, condition, refresh=refresh)
        self._writes = CommitQueue(self.path, writer, limit_s)
        self._long_reads = ReadQueue(self.path, reader.together, reader.close, limit_s)
        self._is_closed = False

    @property
    def capabilities(self) -> Capabilities:
        return capabilities(self._synchronous) if self._replica is None else self._replica.capabilities()

    def commit(
        self, operation: Operation[T], *, is_long: bool = False, is_light: bool = False
    ) -> "CoroutineType[Any, Any, T]":
        # Not a coroutine function: that would make and wake one more coroutine for each send.
        self._check_process()
        return self._writes.run(operation, is_long=is_long, is_light=is_light)

    async def read(self, operation: Operation[T], *, is_long: bool = False) -> T:
        self._check_process()
        if self._is_closed:
            raise StoreClosed
        if is_long or not (self._replica is None or self._replica.is_followed()):  # a refresh takes time
            return await self._long_reads.run(operation)
        return self._reader.alone(operation)

    async def close(self) -> None:
        if self._is_closed or self._forks != _forks:  # in a forked child all resources belong to the parent
            return
        self._is_closed = True
        await self._writes.close()
        await self._long_reads.close()
        self._reader.close()
        self._checkpoints.close()
        self._log.close()
        if self._replica is not None:
            self._replica.close()

    def _check_process(self) -> None:
        if self._forks != _forks:
            raise RuntimeError("a store can't be used after a fork: open it again in the new process")


def _connect(path: str, synchronous: Synchronous, condition: StoreCondition) -> Sequence[apsw.Connection]:
    """Return the connections of a store: for writes, for short reads and for long reads, all to the same file."""
    connections: list[apsw.Connection] = []
    try:
        for setting in ("normal", synchronous, synchronous):
            connections.append(connect(path, setting))
        condition.opened(connections[0])
    except BaseException:
        for connection in connections:
            connection.close()
        raise
    return connections


def _connect_again(path: str, condition: StoreCondition) -> apsw.Connection:
    """Return another connection while the store is open."""
    condition.check_database()  # `connect` would make a removed store again
    return connect(path, "normal")


def _refresh(replica: Replication) -> None:
    if not replica.is_followed():
        replica.refresh()
