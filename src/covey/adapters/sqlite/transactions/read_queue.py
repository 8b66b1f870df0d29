"""The read queue: one thread runs waiting reads in batches, beside the event loop."""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Iterable, Sequence
from threading import Event, Lock
from time import monotonic
from typing import Any, Final, TypeVar, cast

from covey.adapters.sqlite.transactions.transaction import PendingOperation
from covey.core.errors import StoreBusy, StoreClosed
from covey.core.names import MessageId
from covey.threads import start_thread

T = TypeVar("T")

MAX_BATCH: Final = 256
"""Most operations in one transaction."""

MAX_WAITING: Final = 10_000
"""Most operations in a queue. One more is refused with StoreBusy."""

Take = Callable[[], Sequence[PendingOperation]]
Serve = Callable[[Take], object]
"""Takes the waiting operations when ready for them, and runs them."""


class QueuedOperation(PendingOperation):
    """An operation with a future that a caller on an event loop awaits."""

    __slots__ = ("future", "is_light", "is_long", "loop", "since")

    def __init__(
        self,
        operation: Callable[[Any], Awaitable[Any]],
        loop: asyncio.AbstractEventLoop,
        is_long: bool = False,
        is_light: bool = False,
    ) -> None:
        self.operation = operation  # not through `PendingOperation.__init__`: every commit runs this code
        self.value: Any = None
        self.error: BaseException | None = None
        self.filed: Sequence[MessageId] = ()
        self.loop = loop
        self.future: asyncio.Future[Any] = loop.create_future()
        self.since = monotonic()
        self.is_long = is_long
        self.is_light = is_light


class ReadQueue:
    """A queue of reads. Safe for several tasks, and for several event loops."""

    def __init__(self, path: str, serve: Serve, let_go: Callable[[], None], limit_s: float) -> None:
        """Start the thread. The thread calls `serve` whenever an operation waits, and `let_go` at the end."""
        self._path = path
        self._serve = serve
        self._let_go = let_go
        self._limit_s = limit_s
        self._lock = Lock()
        self._bell = Event()
        self._queue: deque[QueuedOperation] = deque()
        self._taken: Sequence[QueuedOperation] = ()
        self._watch: asyncio.TimerHandle | None = None
        self._watching: asyncio.AbstractEventLoop | None = None
        self._waking: asyncio.AbstractEventLoop | None = None
        self._is_closing = False
        self._ended: tuple[asyncio.AbstractEventLoop, asyncio.Future[None]] | None = None
        start_thread(self._work, f"covey {path}")

    async def run(self, operation: Callable[[Any], Awaitable[T]]) -> T:
        """Queue `operation` and return its result. An operation that is cancelled or times out in the queue never
        runs."""
        loop = asyncio.get_running_loop()
        waiting = QueuedOperation(operation, loop)
        with self._lock:
            if self._is_closing:
                raise StoreClosed
            if len(self._queue) >= MAX_WAITING:
                raise StoreBusy(self._path, 0)
            self._queue.append(waiting)
        if self._waking is not loop:
            # Deferred, so that all tasks of this loop iteration get into the same batch, and the thread does not
            # contend with them for the interpreter.
            self._waking = loop
            loop.call_soon(self._wake)
        if self._watch is None or self._watching is not loop:
            self._watching = loop
            self._watch = loop.call_later(self._limit_s, self._give_up_late_ones, loop)
        return cast(T, await waiting.future)

    def _wake(self) -> None:
        self._waking = None
        self._bell.set()

    async def close(self) -> None:
        """Run the waiting operations, then end the thread. A thread that hangs is abandoned after the limit."""
        loop = asyncio.get_running_loop()
        with self._lock:
            if self._is_closing:
                return
            self._is_closing = True
            ended: asyncio.Future[None] = loop.create_future()
            self._ended = (loop, ended)
        self._bell.set()
        await asyncio.wait((ended,), timeout=self._limit_s)
        if self._watch is not None:
            self._watch.cancel()
        self._resolve(self._take_all(), StoreBusy(self._path, self._limit_s))

    def _work(self) -> None:
        while not (self._is_closing and not self._queue):
            self._bell.wait()
            self._bell.clear()
            while self._queue:
                self._serve_once()
        self._let_go()
        if self._ended is not None:
            loop, ended = self._ended
            _call_soon(loop, _end, ended)

    def _serve_once(self) -> None:
        self._taken = ()
        try:
            self._serve(self._take)
        except BaseException as error:  # noqa: BLE001 - the callers get it, and the thread must live on
            self._resolve(self._taken or self._take_all(), error)
        else:
            self._resolve(self._taken)

    def _take(self) -> Sequence[QueuedOperation]:
        batch: list[QueuedOperation] = []
        with self._lock:
            while self._queue and len(batch) < MAX_BATCH:
                waiting = self._queue.popleft()
                if not waiting.future.cancelled():
                    batch.append(waiting)
        self._taken = batch
        return batch

    def _take_all(self) -> Sequence[QueuedOperation]:
        with self._lock:
            batch = list(self._queue)
            self._queue.clear()
        return batch

    def _give_up_late_ones(self, loop: asyncio.AbstractEventLoop) -> None:
        """Refuse the operations that have waited longer than the limit. Schedule the next check for the oldest of the
        rest."""
        late: list[QueuedOperation] = []
        with self._lock:
            while self._queue and monotonic() - self._queue[0].since >= self._limit_s:
                late.append(self._queue.popleft())
            rest = self._limit_s - (monotonic() - self._queue[0].since) if self._queue else None
        self._watch = None if rest is None else loop.call_later(rest, self._give_up_late_ones, loop)
        self._resolve(late, StoreBusy(self._path, self._limit_s))

    def _resolve(self, batch: Sequence[QueuedOperation], error: BaseException | None = None) -> None:
        """Resolve the futures of a batch, with one call for each event loop."""
        if error is not None:
            for waiting in batch:
                waiting.fail(error)
        loops: dict[asyncio.AbstractEventLoop, list[QueuedOperation]] = {}
        for waiting in batch:
            loops.setdefault(waiting.loop, []).append(waiting)
        for loop, theirs in loops.items():
            _call_soon(loop, settle, theirs)


def settle(batch: Iterable[QueuedOperation]) -> None:
    """Resolve the futures of a batch. Call this on their event loop."""
    for waiting in batch:
        if waiting.future.done():
            continue
        try:
            if waiting.error is not None:
                waiting.future.set_exception(waiting.error)
            else:
                waiting.future.set_result(waiting.value)
        except asyncio.InvalidStateError:
            continue  # a signal came after the check: asyncio.run cancels in its handler, between any two steps


def _end(ended: asyncio.Future[None]) -> None:
    if not ended.done():
        ended.set_result(None)


A = TypeVar("A")


def _call_soon(loop: asyncio.AbstractEventLoop, call: Callable[[A], None], argument: A) -> None:
    try:
        loop.call_soon_threadsafe(call, argument)
    except RuntimeError:
        # A closed loop has no tasks left that could wait.
        if not loop.is_closed():
            raise
