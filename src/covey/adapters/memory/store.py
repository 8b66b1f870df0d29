"""The store in memory: all or nothing by undoing, one commit after the other because none ever suspends."""

from collections.abc import Callable, Collection, Generator
from contextlib import contextmanager
from typing import TypeVar

from covey.adapters.memory.transaction import MemoryTransaction
from covey.adapters.memory.undo import UndoLog
from covey.core.drive import finish
from covey.core.errors import StoreClosed
from covey.core.ids import Topic
from covey.ports.store import Capabilities, Operation, Survives

T = TypeVar("T")

Ring = Callable[[Collection[Topic]], None]


def _ring_nobody(_topics: Collection[Topic]) -> None: ...


class MemoryStore:
    """For one thread. `commit` and `read` never suspend, so they can be driven without an event loop."""

    def __init__(self, ring: Ring = _ring_nobody) -> None:
        self._ring = ring
        self._log = UndoLog()
        self._transaction = MemoryTransaction(self._log)
        self._is_running = False
        self._is_closed = False

    @property
    def capabilities(self) -> Capabilities:
        return Capabilities(Survives.NOTHING, shared=False, searchable=True)

    async def commit(self, operation: Operation[T], *, is_long: bool = False, is_light: bool = False) -> T:
        del is_long, is_light  # the calling thread is the only one, and there is no disk
        with self._turn():
            self._log.begin()
            try:
                result = finish(operation(self._transaction))
            except BaseException:
                self._log.undo()
                raise
            self._log.keep()
            rung = self._transaction.take_rung()
        if rung:
            self._ring(rung)
        return result

    async def read(self, operation: Operation[T], *, is_long: bool = False) -> T:
        del is_long
        with self._turn():
            return finish(operation(self._transaction))

    async def close(self) -> None:
        self._is_closed = True

    @contextmanager
    def _turn(self) -> Generator[None]:
        if self._is_closed:
            raise StoreClosed
        if self._is_running:
            raise RuntimeError("an operation awaits nothing but its transaction: this one began another on the store")
        self._is_running = True
        self._transaction.move_on()
        try:
            yield
        finally:
            self._is_running = False
