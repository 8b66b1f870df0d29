"""A replica for programs with an event loop: opened on a thread at its first use, and followed from then on."""

import asyncio
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from functools import partial
from threading import Lock
from typing import TypeVar

from covey.adapters.sqlite.engine.trouble import BUSY_LIMIT_S
from covey.adapters.sqlite.replica.follow import SNAPSHOT_EVERY, Follower
from covey.adapters.sqlite.replica.replica import Replica
from covey.adapters.sqlite.search.threaded import ThreadedSearch
from covey.adapters.sqlite.transactions.group import GroupCommit
from covey.adapters.sqlite.transactions.transaction import Ring
from covey.core.errors import StoreClosed
from covey.ports.ledger import MessageFilter
from covey.ports.search import Hit
from covey.ports.store import Capabilities, Operation, Transaction
from covey.threads import start_thread

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

    async def find(self, words: str, limit: int, wanted: MessageFilter | None = None) -> Sequence[Hit]:
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
