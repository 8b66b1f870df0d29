"""The write lane: commits that wait at the same time share a transaction.

Operations run on the event loop's own thread: on another they would hold the interpreter all the same, and handing them
over and back costs time. What waits for the disk is an errand of another thread. So is a whole batch when another
process has the turn, or when one of its operations says that it is long.
"""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Iterable, Sequence
from functools import partial
from threading import RLock, get_ident
from time import monotonic
from typing import Any, NamedTuple, TypeVar, cast

from covey.adapters.sqlite.transactions.operations import Job
from covey.adapters.sqlite.transactions.read_queue import MAX_BATCH, MAX_WAITING, QueuedOperation, settle
from covey.adapters.sqlite.transactions.writer import Writer
from covey.core.errors import StoreBusy, StoreClosed, StoreUnconfirmed
from covey.threads import WorkerThread

Loop = asyncio.AbstractEventLoop


class WriterJob(NamedTuple):
    do: Callable[[], None]
    loop: Loop
    then: Callable[[BaseException | None], None]
    """Called on the loop, with what `do` raised."""
    otherwise: Callable[[], None]
    """Called on the thread, where the loop has been closed meanwhile and nobody is left to tell."""


class WriterThread:
    def __init__(self, name: str) -> None:
        self._thread = WorkerThread(name)

    def run(self, errand: WriterJob) -> None:
        self._thread.run(partial(_do, errand))

    def end(self) -> None:
        """Let the thread end when it has done what was asked for."""
        self._thread.end()


def _do(errand: WriterJob) -> None:
    error: BaseException | None = None
    try:
        errand.do()
    except BaseException as raised:  # noqa: BLE001 - it is told to who asked, and the thread must live on
        error = raised
    try:
        errand.loop.call_soon_threadsafe(errand.then, error)
    except RuntimeError:
        if not errand.loop.is_closed():
            raise
        errand.otherwise()


T = TypeVar("T")


class CommitQueue:
    """For one event loop at a time."""

    def __init__(self, path: str, writer: Writer, limit_s: float) -> None:
        self._path = path
        self._writer = writer
        self._limit_s = limit_s
        self._errands = WriterThread(f"covey {path}")
        self._guard = RLock()
        """For taking from the queue, which both threads do."""
        self._queue: deque[QueuedOperation] = deque()
        self._batch: Sequence[QueuedOperation] = ()
        """What is under way."""
        self._loop: Loop | None = None
        self._thread = 0
        """Where it runs."""
        self._moves = 0
        """How often it has changed."""
        self._is_starting = False
        self._is_busy = False
        self._has_been_quick = False
        """Something was done at once in this turn of the loop."""
        self._is_crowded = False
        """The last batch was more than one."""
        self._is_closing = False
        self._watch: asyncio.TimerHandle | None = None
        self._idle: asyncio.Future[None] | None = None

    async def run(self, operation: Callable[[Any], Awaitable[T]], *, is_long: bool, is_light: bool = False) -> T:
        """Run `operation` in its turn. One that is cancelled, or has waited too long, before its turn never runs."""
        if self._is_closing:
            raise StoreClosed
        if len(self._queue) >= MAX_WAITING:
            raise StoreBusy(self._path, 0)
        loop = self._loop
        # Up to Python 3.11 asking which loop runs here is a system call: a good part of what a commit costs.
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
            # Not at once: the tasks that run in this turn of the loop get into the same batch.
            self._is_starting = True
            loop.call_soon(self._start)
        if self._watch is None:
            self._watch = loop.call_later(self._limit_s, self._give_up_late_ones)
        return cast(T, await waiting.future)

    async def close(self) -> None:
        """Run what waits, then let go. A turn that does not come is given up after the limit."""
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
        self._moves += 1  # what was offered and not told of comes too late
        closed: asyncio.Future[None] = loop.create_future()
        self._errands.run(WriterJob(self._writer.close, loop, partial(_end, closed), _nothing))
        self._errands.end()
        await asyncio.wait((closed,), timeout=self._limit_s)
        late, self._queue = list(self._queue), deque()
        _fail(late, StoreBusy(self._path, self._limit_s))
        settle(late)

    def _move_to(self, loop: Loop) -> None:
        """Serve another event loop; what waited on a closed one is waited for by nobody."""
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
            # The other loop ended in the middle of a batch and will not hear of its end. Errands are done in their
            # order: when this one is done, that is over.
            self._errands.run(WriterJob(self._writer.abandon, loop, self._finished, _nothing))

    def _at_once(self, operation: Callable[[Any], Awaitable[object]], loop: Loop) -> Job | None:
        """Do what is light without a turn of the loop before and after, if nothing is under way. Only the first in a
        turn, and none where the last ones came together: those share a batch."""
        if self._has_been_quick or self._is_crowded or self._is_busy or self._queue:
            return None
        if not self._writer.begin_at_once():
            return None
        self._has_been_quick = True
        loop.call_soon(self._be_quick_again)
        job = Job(operation)
        try:
            self._writer.run((job,))
            self._writer.commit(is_light=True)
        except StoreUnconfirmed as error:
            job.fail(error)
        return job

    def _be_quick_again(self) -> None:
        self._has_been_quick = False

    def _start(self) -> None:
        """Begin a batch, if one waits and none is under way."""
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
            is_offered = not is_light and self._writer.offer(partial(self._tell, cast(Loop, self._loop), self._moves))
        except BaseException as error:  # noqa: BLE001 - they who wait get it, and the lane must live on
            self._finished(error)
            return
        if is_light:
            self._finished(None)
        elif not is_offered:
            self._send(self._writer.commit)

    def _tell(self, loop: Loop, moves: int) -> None:
        """Go on with what was offered; on any thread."""
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
        except BaseException as error:  # noqa: BLE001 - they who wait get it, and the lane must live on
            self._finished(error)
        else:
            self._finished(None)

    def _abandon(self, moves: int) -> None:
        if moves == self._moves:
            self._writer.abandon()

    def _take_turn(self, moves: int) -> None:
        """Wait for the turn; then do everything at once, on this thread, because other processes wait for theirs."""
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
        """A batch is durable, or has failed as a whole."""
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
        """Refuse whatever has waited for longer than the limit, and look again when the next one will have."""
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
    del error  # nothing is left that it could concern
    if not closed.done():
        closed.set_result(None)


def _nothing() -> None:
    """Stand in where nobody is left to tell."""
