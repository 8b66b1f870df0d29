"""Passes for programs with an event loop: they run on a thread of their own, and waiting callers share them.

The commits of a pass are synchronised while its files are written. Their wake-ups are sent once they are
on the disk.
"""

import asyncio
from asyncio import get_running_loop
from collections.abc import Callable, Collection, Iterable
from enum import Enum
from functools import partial
from threading import Lock
from typing import Generic, Protocol, TypeVar

from covey.adapters.folder.background_thread import BackgroundThread
from covey.core.coroutine import finish
from covey.core.names import Topic
from covey.threads import WorkerThread

Ring = Callable[[Collection[Topic]], None]


class _State(Enum):
    ASKED = 1
    BEGUN = 2
    OVER = 3


class HeldWakeups:
    """Wake-ups that are held until their commits are durable."""

    def __init__(self, ring: Ring) -> None:
        self._ring = ring
        self._lock = Lock()
        self._held: list[Topic] = []

    def ring(self, topics: Collection[Topic]) -> None:
        """Hold the wake-ups of a commit on an event loop, because that commit has not waited for the disk. On any other
        thread the commit has waited, and the wake-ups are sent at once."""
        try:
            get_running_loop()
        except RuntimeError:
            self._ring(topics)
            return
        with self._lock:
            self._held += topics

    def take(self) -> Collection[Topic]:
        """Return the held topics, and hold them no longer."""
        with self._lock:
            held, self._held = self._held, []
        return tuple(dict.fromkeys(held))

    def ring_now(self, topics: Collection[Topic]) -> None:
        if topics:
            self._ring(topics)


class DeferredCommitGate:
    """`CommitGate` for commits that have not waited for the disk."""

    def __init__(self, sync: Callable[[], None], rings: HeldWakeups, beside: BackgroundThread) -> None:
        """`sync` blocks until all commits so far are on the disk."""
        self._sync = sync
        self._rings = rings
        self._beside = beside
        self._state = _State.OVER
        self._held: Collection[Topic] = ()
        self._error: BaseException | None = None

    def ask(self, *, is_durable: bool) -> None:
        """Begin a round for the commits so far. If `is_durable`, their wake-ups are sent when the commits are on the
        disk; otherwise at once."""
        self._held = self._rings.take()
        self._error = None
        self._state = _State.ASKED
        if not is_durable:
            self._state = _State.OVER
            self.tell()

    def begin(self) -> None:
        if self._state is _State.ASKED:
            self._state = _State.BEGUN
            self._beside.begin(self._wait)

    def end(self) -> None:
        if self._state is _State.ASKED:
            self._wait()
        elif self._state is _State.BEGUN:
            self._beside.end()
        self._state = _State.OVER
        if self._error is not None:
            raise self._error

    def tell(self) -> None:
        if self._state is _State.OVER and self._error is None:
            held, self._held = self._held, ()
            self._rings.ring_now(held)

    def finish(self) -> BaseException | None:
        """Block until the commits are on the disk and send their wake-ups; return the error, or None."""
        try:
            self.end()
            self.tell()
        except BaseException as error:  # noqa: BLE001 - the waiting callers get it
            return error
        return None

    def close(self) -> None:
        self._beside.close()

    def _wait(self) -> None:
        try:
            self._sync()
        except BaseException as error:  # noqa: BLE001 - `end` raises it
            self._error = error


N = TypeVar("N")
N_contra = TypeVar("N_contra", contravariant=True)

Loop = asyncio.AbstractEventLoop
Waiter = tuple[Loop, "asyncio.Future[None]"]


class PassSource(Protocol[N_contra]):
    """A source of passes that never suspend."""

    async def run(self, noted: Collection[N_contra]) -> None: ...


class _NextPass(Generic[N]):
    """The next piece of work, with the callers that wait for it."""

    def __init__(self) -> None:
        self.waiting: list[Waiter] = []
        self.committed: list[Waiter] = []
        """Callers that also wait until their commits are on the disk."""
        self.noted: list[N] = []
        self.is_pass = False
        self.is_durable = False


class ThreadedPasses(Generic[N]):
    """Passes on a worker thread. A pass serves all callers that ask for one before it begins."""

    def __init__(
        self, passing: PassSource[N], let_go: Callable[[], None], confirming: DeferredCommitGate | None = None
    ) -> None:
        """`let_go` releases the resources of the passes, on the same thread. With `confirming`, commits that have not
        waited for the disk are synchronised here, while their files are written."""
        self._passing = passing
        self._let_go = let_go
        self._confirming = confirming
        self._lock = Lock()
        self._next: _NextPass[N] | None = None
        self._thread: WorkerThread | None = None
        self._closed: Waiter | None = None
        self._is_closed = False

    @property
    def confirms(self) -> bool:
        return self._confirming is not None

    async def run(self) -> None:
        await self._ask(is_pass=True, is_durable=False)

    async def follow(self, noted: N | None, *, is_light: bool) -> None:
        await self._ask(noted, is_pass=True, is_durable=self.confirms and not is_light)

    async def confirm(self, *, is_light: bool) -> None:
        if self.confirms:
            await self._ask(is_pass=False, is_durable=not is_light)

    def begin(self) -> None:
        with self._lock:
            if not self._is_closed:
                turn = self._turn()
                turn.is_pass = True
                turn.is_durable = turn.is_durable or self.confirms

    async def close(self) -> None:
        loop = asyncio.get_running_loop()
        with self._lock:
            if self._is_closed:
                return
            self._is_closed = True
            closed = self._closed = (loop, loop.create_future())
            thread = self._start()
            thread.run(self._end)
            thread.end()
        await asyncio.shield(closed[1])

    async def _ask(self, noted: N | None = None, *, is_pass: bool, is_durable: bool) -> None:
        loop = asyncio.get_running_loop()
        future: asyncio.Future[None] = loop.create_future()
        with self._lock:
            if self._is_closed:
                return
            turn = self._turn()
            (turn.committed if is_durable else turn.waiting).append((loop, future))
            turn.is_pass = turn.is_pass or is_pass
            turn.is_durable = turn.is_durable or is_durable
            if noted is not None:
                turn.noted.append(noted)
        await future  # one future for each caller: a caller that is cancelled affects no other

    def _turn(self) -> _NextPass[N]:
        if self._next is None:
            self._next = _NextPass()
            self._start().run(partial(self._work, self._next))
        return self._next

    def _start(self) -> WorkerThread:
        if self._thread is None:
            self._thread = WorkerThread("covey files")
        return self._thread

    def _work(self, turn: _NextPass[N]) -> None:
        with self._lock:
            self._next = None
        error, unconfirmed = self._take(turn)
        _settle(turn.waiting, error)
        _settle(turn.committed, unconfirmed or error)

    def _end(self) -> None:
        try:
            self._let_go()
        finally:
            if self._confirming is not None:
                self._confirming.close()
            if self._closed is not None:
                _settle([self._closed], None)

    def _take(self, turn: _NextPass[N]) -> tuple[BaseException | None, BaseException | None]:
        """Do the work of a turn; return the error of the pass and the error of the disk, each None if there was
        none."""
        confirming = self._confirming
        error: BaseException | None = None
        if confirming is not None:
            confirming.ask(is_durable=turn.is_durable)
        if turn.is_pass:
            try:
                finish(self._passing.run(turn.noted))
            except BaseException as raised:  # noqa: BLE001 - the waiting callers get it, and the thread must live on
                error = raised
        return error, confirming.finish() if confirming is not None else None


def _settle(waiting: Iterable[Waiter], error: BaseException | None) -> None:
    """Resolve the futures of the waiting callers, with one call for each event loop."""
    loops: dict[Loop, list[asyncio.Future[None]]] = {}
    for loop, future in waiting:
        loops.setdefault(loop, []).append(future)
    for loop, futures in loops.items():
        try:
            loop.call_soon_threadsafe(_tell, futures, error)
        except RuntimeError:
            if not loop.is_closed():
                raise


def _tell(futures: Iterable["asyncio.Future[None]"], error: BaseException | None) -> None:
    for future in futures:
        if future.done():
            continue
        try:
            future.set_result(None) if error is None else future.set_exception(error)
        except asyncio.InvalidStateError:
            continue  # a signal came after the check: the handler of asyncio.run cancels between any two steps
