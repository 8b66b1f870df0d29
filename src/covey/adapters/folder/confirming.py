"""Confirming commits: those of a program with an event loop wait for the disk together with what shows them, and ring
once they are on it."""

from asyncio import get_running_loop
from collections.abc import Callable, Collection
from enum import Enum
from threading import Lock

from covey.adapters.folder.beside_thread import BesideThread
from covey.core.ids import Topic

Ring = Callable[[Collection[Topic]], None]


class _State(Enum):
    ASKED = 1
    BEGUN = 2
    OVER = 3


class HeldRings:
    """Rings that wait until what they tell of is durable."""

    def __init__(self, ring: Ring) -> None:
        self._ring = ring
        self._lock = Lock()
        self._held: list[Topic] = []

    def ring(self, topics: Collection[Topic]) -> None:
        """Hold what a commit rings on an event loop: it has not waited for the disk. On any other thread it has."""
        try:
            get_running_loop()
        except RuntimeError:
            self._ring(topics)
            return
        with self._lock:
            self._held += topics

    def take(self) -> Collection[Topic]:
        """Return what is held, which is nothing then."""
        with self._lock:
            held, self._held = self._held, []
        return tuple(dict.fromkeys(held))

    def ring_now(self, topics: Collection[Topic]) -> None:
        if topics:
            self._ring(topics)


class Confirming:
    """`Gate` for commits that have not waited for the disk."""

    def __init__(self, sync: Callable[[], None], rings: HeldRings, beside: BesideThread) -> None:
        """`sync` returns when all commits so far are on the disk."""
        self._sync = sync
        self._rings = rings
        self._beside = beside
        self._state = _State.OVER
        self._held: Collection[Topic] = ()
        self._error: BaseException | None = None

    def ask(self, *, is_durable: bool) -> None:
        """Let what is committed by now be on the disk before anything is shown of it; it rings then. Where it need not
        be, it rings at once."""
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
        """Return, when it is over, what went wrong."""
        try:
            self.end()
            self.tell()
        except BaseException as error:  # noqa: BLE001 - it is told to those for whom it was done
            return error
        return None

    def close(self) -> None:
        self._beside.close()

    def _wait(self) -> None:
        try:
            self._sync()
        except BaseException as error:  # noqa: BLE001 - it is raised where it has to be over
            self._error = error
