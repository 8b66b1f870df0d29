"""Durability of commits in programs with an event loop: a commit is synchronised while its files are written, and its
wake-ups are sent once it is on the disk."""

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


class Confirming:
    """`Gate` for commits that have not waited for the disk."""

    def __init__(self, sync: Callable[[], None], rings: HeldRings, beside: BesideThread) -> None:
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
