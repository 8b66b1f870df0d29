"""Passes for programs with an event loop: on a thread of their own, and shared by all who wait for one."""

import asyncio
from collections.abc import Callable, Collection, Iterable
from functools import partial
from threading import Lock
from typing import Generic, Protocol, TypeVar

from covey.adapters.folder.confirming import Confirming
from covey.core.drive import finish
from covey.threads import WorkerThread

N = TypeVar("N")
N_contra = TypeVar("N_contra", contravariant=True)

Loop = asyncio.AbstractEventLoop
Waiter = tuple[Loop, "asyncio.Future[None]"]


class Passing(Protocol[N_contra]):
    """What makes passes without ever suspending."""

    async def run(self, noted: Collection[N_contra]) -> None: ...


class _Turn(Generic[N]):
    """What is to be done next, and for whom."""

    def __init__(self) -> None:
        self.waiting: list[Waiter] = []
        self.committed: list[Waiter] = []
        """Those of them who have to know whether the disk confirms what they have committed."""
        self.noted: list[N] = []
        self.is_pass = False
        self.is_durable = False


class ThreadedPasses(Generic[N]):
    """A pass that has not begun yet serves everybody who asks for one until it does."""

    def __init__(self, passing: Passing[N], let_go: Callable[[], None], confirming: Confirming | None = None) -> None:
        """`let_go` closes on the same thread what the passes have used. With `confirming`, commits that do not wait
        for the disk do so here, while what shows them is written."""
        self._passing = passing
        self._let_go = let_go
        self._confirming = confirming
        self._lock = Lock()
        self._next: _Turn[N] | None = None
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
        await future  # whoever gives up does so alone: others have their own

    def _turn(self) -> _Turn[N]:
        if self._next is None:
            self._next = _Turn()
            self._start().run(partial(self._work, self._next))
        return self._next

    def _start(self) -> WorkerThread:
        if self._thread is None:
            self._thread = WorkerThread("covey files")
        return self._thread

    def _work(self, turn: _Turn[N]) -> None:
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

    def _take(self, turn: _Turn[N]) -> tuple[BaseException | None, BaseException | None]:
        """Do what is to be done; return what went wrong with the pass, and what with the disk."""
        confirming = self._confirming
        error: BaseException | None = None
        if confirming is not None:
            confirming.ask(is_durable=turn.is_durable)
        if turn.is_pass:
            try:
                finish(self._passing.run(turn.noted))
            except BaseException as raised:  # noqa: BLE001 - it is told to who waits, and the thread must live on
                error = raised
        return error, confirming.finish() if confirming is not None else None


def _settle(waiting: Iterable[Waiter], error: BaseException | None) -> None:
    """Tell those who wait; each event loop once."""
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
            continue  # a signal came since the look: asyncio.run cancels in its handler, between any two steps
