"""A replica for programs with an event loop: opened on a thread at its first use, and followed from then on.

The follower is a thread that applies new log entries to the replica as soon as the log announces them. One process of a
machine follows the log for all processes that share the replica, and rings for them: the process that holds the lock.
When that process ends, another process takes over.
"""

import asyncio
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from contextlib import suppress
from functools import partial
from queue import Empty, SimpleQueue
from threading import Lock
from time import monotonic
from typing import Final, TypeVar

from covey.adapters.sqlite.engine.files import BUSY_LIMIT_S
from covey.adapters.sqlite.replica.replica import BATCH, Replica
from covey.adapters.sqlite.replica.snapshots import keep
from covey.adapters.sqlite.replica.state import Pulse
from covey.adapters.sqlite.search.threaded import ThreadedSearch
from covey.adapters.sqlite.transactions.group_commit import GroupCommit
from covey.adapters.sqlite.transactions.transaction import Ring
from covey.core.errors import CoveyError, StoreClosed
from covey.ports.ledger import MessageFilter, SearchHit
from covey.ports.log import LogEntry
from covey.ports.store import Capabilities, Operation, Transaction
from covey.threads import start_thread

TAKE_OVER_S: Final = 0.5
"""Seconds between two attempts of a process to take over."""

LOOK_S: Final = 2.0
"""Seconds between two reads of the log if no entry is announced."""

MOST_HEARD: Final = 4 * BATCH
"""Most announced entries in the queue. Later entries are read from the log."""

SNAPSHOT_EVERY: Final = 20_000
"""Number of records between two snapshots."""


class Follower:
    def __init__(self, replica: Replica, snapshot_every: int = SNAPSHOT_EVERY) -> None:
        """Start the thread."""
        self._replica = replica
        self._every = snapshot_every
        self._next = snapshot_every
        """Position at which the next snapshot may be due."""
        self._heard: SimpleQueue[LogEntry | None] = SimpleQueue()
        self._has_missed = False
        self._is_closing = False
        self._said = ""
        self._pulse = Pulse(replica.path)
        self._thread = start_thread(self._work, f"covey {replica.path} follows")

    def close(self) -> None:
        """End the thread after its current step."""
        self._is_closing = True
        self._heard.put(None)
        self._thread.join()

    def _work(self) -> None:
        try:
            while not self._is_closing:
                if self._pulse.is_own():
                    self._follow()
                else:
                    self._wait(TAKE_OVER_S)
        finally:
            self._pulse.close()

    def _follow(self) -> None:
        stop: Callable[[], None] | None = None
        try:
            stop = self._replica.log.listen(self._hear)
            self._attempt(self._replica.refresh)
            looked = monotonic()
            while not self._is_closing:
                entries = self._wait(LOOK_S)
                if entries:
                    self._attempt(partial(self._take_in, entries))
                if not entries or monotonic() - looked >= LOOK_S:
                    self._attempt(self._replica.refresh)
                    looked = monotonic()
                self._attempt(self._keep_snapshot)
        except CoveyError as error:  # the log can't be listened to yet
            self._say(error)
            self._wait(LOOK_S)
        finally:
            self._pulse.stop()
            if stop is not None:
                with suppress(CoveyError):
                    stop()

    def _hear(self, entry: LogEntry | None) -> None:
        if entry is None:
            self._pulse.stop()
        elif self._heard.empty() and self._replica.take_in_at_once(entry):
            self._pulse.beat()  # a handover to the thread would take as long again
            return
        if self._heard.qsize() < MOST_HEARD:
            self._heard.put(entry)
        else:
            self._has_missed = True

    def _wait(self, limit_s: float) -> list[LogEntry]:
        """Wait for announced entries and return them. An empty list means that the caller should read the log
        instead."""
        heard: list[LogEntry | None] = []
        try:
            heard.append(self._heard.get(timeout=limit_s))
            while len(heard) < BATCH:
                heard.append(self._heard.get_nowait())
        except Empty:
            pass
        has_missed, self._has_missed = self._has_missed, False
        return [] if has_missed or None in heard else [entry for entry in heard if entry is not None]

    def _take_in(self, entries: list[LogEntry]) -> None:
        self._replica.take_in(entries)
        if self._replica.position < entries[-1].position:
            self._replica.refresh()  # some entries were not announced

    def _keep_snapshot(self) -> None:
        """Keep a snapshot when one is due. Several machines may do so at once, and the first is enough."""
        snapshots = self._replica.snapshots
        if snapshots is None or self._replica.position < self._next:
            return
        newest = snapshots.newest()
        kept = 0 if newest is None else newest.position
        if self._replica.position >= kept + self._every:
            kept = keep(self._replica.path, snapshots)
        self._next = kept + self._every

    def _attempt(self, do: Callable[[], None]) -> None:
        """Call `do` and report an error once. A read or a commit meets the same error and raises it to its caller."""
        try:
            do()
        except CoveyError as error:
            self._pulse.stop()
            self._say(error)
        else:
            self._pulse.beat()
            self._said = ""

    def _say(self, error: CoveyError) -> None:
        if error.message != self._said:
            self._said = error.message
            self._replica.warn(f"{self._replica.log.name} can't be followed: {error.message}")


T = TypeVar("T")


class ReplicatedStore:
    """Group commit over a log: commits that wait at the same time share one record. The counterpart of `GroupCommit`
    for a file."""

    def __init__(
        self,
        open_replica: Callable[[], Replica],
        *,
        ring: Ring,
        limit_s: float = BUSY_LIMIT_S,
        snapshot_every: int = SNAPSHOT_EVERY,
    ) -> None:
        """Make the store without opening it. `open_replica` may block. It is called at the first use, and again after a
        failure."""
        self._open_replica = open_replica
        self._ring = ring
        self._limit_s = limit_s
        self._snapshot_every = snapshot_every
        self._guard = Lock()
        self._opening: Future[GroupCommit] | None = None
        self._store: GroupCommit | None = None
        self._follower: Follower | None = None
        self._is_closed = False

    @property
    def capabilities(self) -> Capabilities:
        """Return the capabilities of the replica. Blocks if the store is not open yet."""
        return (self._store or self._opened().result()).capabilities

    async def commit(self, operation: Operation[T], *, is_long: bool = False, is_light: bool = False) -> T:
        del is_light  # the log treats all commits alike
        return await (self._store or await self._open()).commit(operation, is_long=is_long)

    async def read(self, operation: Operation[T], *, is_long: bool = False) -> T:
        return await (self._store or await self._open()).read(operation, is_long=is_long)

    async def close(self) -> None:
        with self._guard:
            if self._is_closed:
                return
            self._is_closed = True
            opening = self._opening
        if opening is not None:
            await asyncio.wait((asyncio.wrap_future(opening),))
        if self._follower is not None:
            await asyncio.to_thread(self._follower.close)
        if self._store is not None:
            await self._store.close()

    async def _open(self) -> GroupCommit:
        return await asyncio.wrap_future(self._opened())

    def _opened(self) -> Future[GroupCommit]:
        with self._guard:
            if self._is_closed:
                raise StoreClosed
            if self._opening is None:
                opening = self._opening = Future[GroupCommit]()
                opening.set_running_or_notify_cancel()  # a cancelled caller must not cancel it for other callers
                start_thread(partial(self._work, opening), "covey opens a replica")
            return self._opening

    def _work(self, opening: Future[GroupCommit]) -> None:
        try:
            replica = self._open_replica()
            try:
                store = GroupCommit(
                    replica.path, ring=self._ring, synchronous="normal", limit_s=self._limit_s, replica=replica
                )
            except BaseException:
                replica.close()
                raise
            self._follower = Follower(replica, self._snapshot_every)
            self._store = store
        except BaseException as error:  # noqa: BLE001 - the callers get it, and the next call tries again
            with self._guard:
                self._opening = None
            opening.set_exception(error)
        else:
            opening.set_result(store)


class ReplicatedSearch:
    """Search over a replica. It finds at least all messages that were committed before the call."""

    def __init__(self, store: ReplicatedStore, path: str) -> None:
        self._store = store
        self._path = path
        self._search: ThreadedSearch | None = None

    async def find(self, words: str, limit: int, wanted: MessageFilter | None = None) -> Sequence[SearchHit]:
        return await (await self._fresh()).find(words, limit, wanted)

    async def forget(self) -> None:
        await (await self._fresh()).forget()

    async def lag(self) -> int:
        return await (await self._fresh()).lag()

    async def close(self) -> None:
        if self._search is not None:
            await self._search.close()

    async def _fresh(self) -> ThreadedSearch:
        await self._store.read(_look)
        if self._search is None:
            self._search = ThreadedSearch(self._path)
        return self._search


async def _look(_transaction: Transaction) -> None:
    """Stand in for a read, which brings the replica up to date."""
