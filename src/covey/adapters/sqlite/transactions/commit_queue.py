"""The commit queue: commits that wait at the same time share a transaction.

Operations run on the event loop's own thread: on another thread they would hold the interpreter all the same, and the
handover to that thread and back costs time. The sync of the disk runs on another thread. A whole batch runs there if
another process has the writer lock, or if one of its operations is declared long.
"""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Iterable, Sequence
from functools import partial
from threading import RLock, get_ident
from time import monotonic
from typing import Any, NamedTuple, TypeVar, cast

from covey.adapters.sqlite.transactions.read_queue import MAX_BATCH, MAX_WAITING, QueuedOperation, settle
from covey.adapters.sqlite.transactions.transaction import PendingOperation
from covey.adapters.sqlite.transactions.writer import Writer
from covey.core.errors import StoreBusy, StoreClosed, StoreUnconfirmed
from covey.threads import WorkerThread

Loop = asyncio.AbstractEventLoop


class WriterJob(NamedTuple):
    do: Callable[[], None]
    loop: Loop
    then: Callable[[BaseException | None], None]
    """Called on the loop, with the error that `do` raised."""
    otherwise: Callable[[], None]
    """Called on the thread if the loop was closed meanwhile, so that `then` cannot run."""


class WriterThread:
    def __init__(self, name: str) -> None:
        self._thread = WorkerThread(name)

    def run(self, errand: WriterJob) -> None:
        self._thread.run(partial(_do, errand))

    def end(self) -> None:
        """Let the thread end after the jobs that it was given."""
        self._thread.end()


def _do(errand: WriterJob) -> None:
    error: BaseException | None = None
    try:
        errand.do()
    except BaseException as raised:  # noqa: BLE001 - `then` gets it, and the thread must live on
        error = raised
    try:
        errand.loop.call_soon_threadsafe(errand.then, error)
    except RuntimeError:
        if not errand.loop.is_closed():
            raise
        errand.otherwise()


T = TypeVar("T")


class CommitQueue:
    """A queue of commits, for one event loop at a time."""

    def __init__(self, path: str, writer: Writer, limit_s: float) -> None:
        self._path = path
        self._writer = writer
        self._limit_s = limit_s
        self._errands = WriterThread(f"covey {path}")
        self._guard = RLock()
        """Guards the removal from the queue, which happens on both threads."""
        self._queue: deque[QueuedOperation] = deque()
        self._batch: Sequence[QueuedOperation] = ()
        """The batch that is running."""
        self._loop: Loop | None = None
        self._thread = 0
        """The thread of the event loop."""
        self._moves = 0
        """Number of changes of the event loop."""
        self._is_starting = False
        self._is_busy = False
        self._has_been_quick = False
        """A commit has bypassed the queue in this loop iteration."""
        self._is_crowded = False
        """The last batch had more than one operation."""
        self._is_closing = False
        self._watch: asyncio.TimerHandle | None = None
        self._idle: asyncio.Future[None] | None = None

    async def run(self, operation: Callable[[Any], Awaitable[T]], *, is_long: bool, is_light: bool = False) -> T:
        """Queue `operation` and return its result. An operation that is cancelled or times out in the queue never
        runs."""
        if self._is_closing:
            raise StoreClosed
        if len(self._queue) >= MAX_WAITING:
            raise StoreBusy(self._path, 0)
        loop = self._loop
        # Up to Python 3.11 `get_running_loop` makes a system call: a good part of the cost of a commit.
        if loop is None or self._thread != get_ident() or not loop.is_running():
            loop = asyncio.get_running_loop()
            if loop is not self._loop:
                self._move_to(loop)
        if is_light and not is_long and (done := self._at_once(operation, loop)) is not None:
            if done.error is not None:
                raise done.error
            return cast(T, done.value)
        waiting = QueuedOperation(operation, loop, is_long, is_light)
        self._queue.append(waiting)
        if not self._is_busy and not self._is_starting:
            # Deferred, so that all tasks of this loop iteration get into the same batch.
            self._is_starting = True
            loop.call_soon(self._start)
        if self._watch is None:
            self._watch = loop.call_later(self._limit_s, self._give_up_late_ones)
        return cast(T, await waiting.future)

    async def close(self) -> None:
        """Run the waiting operations, then close the writer. Operations still in the queue after the limit are
        refused."""
        if self._is_closing:
            return
        self._is_closing = True
        loop = asyncio.get_running_loop()
        if self._loop is not None and self._loop.is_closed():
            self._move_to(loop)
        if self._is_busy or self._queue:
            self._idle = loop.create_future()
            await asyncio.wait((self._idle,), timeout=self._limit_s)
        if self._watch is not None:
            self._watch.cancel()
        self._moves += 1  # ignore a late answer to a batch that was begun
        closed: asyncio.Future[None] = loop.create_future()
        self._errands.run(WriterJob(self._writer.close, loop, partial(_end, closed), _nothing))
        self._errands.end()
        await asyncio.wait((closed,), timeout=self._limit_s)
        late, self._queue = list(self._queue), deque()
        _fail(late, StoreBusy(self._path, self._limit_s))
        settle(late)

    def _move_to(self, loop: Loop) -> None:
        """Serve another event loop. Operations of a closed loop are dropped: no task waits for them any more."""
        if self._loop is not None and not self._loop.is_closed() and (self._is_busy or self._queue):
            raise RuntimeError("a store serves one event loop at a time")
        with self._guard:
            self._queue.clear()
            self._batch = ()
            self._moves += 1
        self._is_starting = False
        self._has_been_quick = False
        self._watch = None
        self._loop = loop
        self._thread = get_ident()
        if self._is_busy:
            # The old loop ended during a batch and will not hear of the batch's end. The thread runs its jobs in order:
            # when this job is done, the batch is over.
            self._errands.run(WriterJob(self._writer.abandon, loop, self._finished, _nothing))

    def _at_once(self, operation: Callable[[Any], Awaitable[object]], loop: Loop) -> PendingOperation | None:
        """Commit a light operation outside the queue, without a loop iteration before and after, if no batch is
        running. Only for the first operation of a loop iteration, and not after a batch of several: those share a
        batch."""
        if self._has_been_quick or self._is_crowded or self._is_busy or self._queue:
            return None
        if not self._writer.begin_at_once():
            return None
        self._has_been_quick = True
        loop.call_soon(self._be_quick_again)
        job = PendingOperation(operation)
        try:
            self._writer.run((job,))
            self._writer.commit(is_light=True)
        except StoreUnconfirmed as error:
            job.fail(error)
        return job

    def _be_quick_again(self) -> None:
        self._has_been_quick = False

    def _start(self) -> None:
        """Begin a batch, if an operation waits and no batch is running."""
        self._is_starting = False
        if self._is_busy or not self._queue:
            return
        self._is_busy = True
        self._batch = ()
        if not self._writer.begin_at_once():
            self._send(partial(self._take_turn, self._moves))
            return
        self._batch = self._take()
        self._is_crowded = len(self._batch) > 1
        if any(waiting.is_long for waiting in self._batch):
            self._send(self._run_and_commit)
            return
        is_light = all(waiting.is_light for waiting in self._batch)
        try:
            self._writer.run(self._batch)
            if is_light:
                self._writer.commit(is_light=True)
            is_offered = not is_light and self._writer.begin_commit(
                partial(self._tell, cast(Loop, self._loop), self._moves)
            )
        except BaseException as error:  # noqa: BLE001 - the callers get it, and the queue must live on
            self._finished(error)
            return
        if is_light:
            self._finished(None)
        elif not is_offered:
            self._send(self._writer.commit)

    def _tell(self, loop: Loop, moves: int) -> None:
        """Continue the begun batch on the event loop. Called on any thread."""
        try:
            loop.call_soon_threadsafe(self._commit_offered, moves)
        except RuntimeError:
            if not loop.is_closed():
                raise
            self._errands.run(WriterJob(partial(self._abandon, moves), loop, self._finished, _nothing))

    def _commit_offered(self, moves: int) -> None:
        if moves != self._moves:
            return
        if not self._writer.is_taken():
            self._send(self._writer.commit)
            return
        try:
            self._writer.commit()
        except BaseException as error:  # noqa: BLE001 - the callers get it, and the queue must live on
            self._finished(error)
        else:
            self._finished(None)

    def _abandon(self, moves: int) -> None:
        if moves == self._moves:
            self._writer.abandon()

    def _take_turn(self, moves: int) -> None:
        """Wait for the writer lock. Then run the whole batch on this thread, because other processes wait for the
        lock."""
        self._writer.begin()
        with self._guard:
            is_over = moves != self._moves
            if not is_over:
                self._batch = self._take()
        if is_over:
            self._writer.abandon()
        else:
            self._run_and_commit()

    def _run_and_commit(self) -> None:
        self._writer.run(self._batch)
        self._writer.commit()

    def _finished(self, error: BaseException | None) -> None:
        """End a batch that is durable, or has failed as a whole."""
        batch = self._batch or (self._take() if error is not None else ())
        if error is not None:
            _fail(batch, error)
        self._batch = ()
        settle(batch)
        self._is_busy = False
        if self._queue and not self._is_starting:
            self._is_starting = True
            cast(Loop, self._loop).call_soon(self._start)
        elif self._idle is not None and not self._idle.done():
            self._idle.set_result(None)

    def _take(self) -> Sequence[QueuedOperation]:
        batch: list[QueuedOperation] = []
        with self._guard:
            while self._queue and len(batch) < MAX_BATCH:
                waiting = self._queue.popleft()
                if not waiting.future.cancelled():
                    batch.append(waiting)
        return batch

    def _send(self, do: Callable[[], None]) -> None:
        self._errands.run(WriterJob(do, cast(Loop, self._loop), self._finished, self._writer.abandon))

    def _give_up_late_ones(self) -> None:
        """Refuse the operations that have waited longer than the limit. Schedule the next check for the oldest of the
        rest."""
        late: list[QueuedOperation] = []
        with self._guard:
            while self._queue and monotonic() - self._queue[0].since >= self._limit_s:
                late.append(self._queue.popleft())
            rest = self._limit_s - (monotonic() - self._queue[0].since) if self._queue else None
        self._watch = None
        if rest is not None and self._loop is not None:
            self._watch = self._loop.call_later(rest, self._give_up_late_ones)
        _fail(late, StoreBusy(self._path, self._limit_s))
        settle(late)


def _fail(batch: Iterable[QueuedOperation], error: BaseException) -> None:
    for waiting in batch:
        waiting.fail(error)


def _end(closed: asyncio.Future[None], error: BaseException | None) -> None:
    del error  # the queue is closed, and no operation is left that the error could concern
    if not closed.done():
        closed.set_result(None)


def _nothing() -> None:
    """Stand in for a callback that has no receiver left."""
