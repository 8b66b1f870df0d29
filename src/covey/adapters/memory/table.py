"""A table of records by key, with ordered indexes; every change can be taken back."""

from bisect import bisect_left, insort
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from functools import partial
from typing import Generic, TypeVar, cast


class UndoLog:
    """Every change is recorded with its opposite; taking a commit back runs them, last first."""

    def __init__(self) -> None:
        self._steps: list[Callable[[], None]] | None = None

    def begin(self) -> None:
        """Start a commit."""
        self._steps = []

    def record(self, step: Callable[[], None]) -> None:
        """Remember how to take back the change that the caller is about to make. Outside a commit nothing may
        change."""
        if self._steps is None:
            raise RuntimeError("only an operation of a commit may write, and only while it runs")
        self._steps.append(step)

    def keep(self) -> None:
        """End the commit: what it changed stands."""
        self._steps = None

    def undo(self) -> None:
        """End the commit: everything is as it was before."""
        steps, self._steps = self._steps or [], None
        for step in reversed(steps):
            step()


K = TypeVar("K", bound=str)
R = TypeVar("R")

Shelf = Hashable
"""The name of an index: records that are asked for together stand on one shelf."""

Order = object
"""What a shelf is sorted by; the records of one shelf have orders that can be compared."""

Places = Callable[[R], Iterable[tuple[Shelf, Order]]]
"""The shelves that a record stands on, and its order there."""

_Entry = tuple[Order, int, K]


def _nowhere(_record: object) -> Iterable[tuple[Shelf, Order]]:
    return ()


class Table(Generic[K, R]):
    """Records with equal orders stand on a shelf as they were first put."""

    def __init__(self, log: UndoLog, places: Places[R] = _nowhere) -> None:
        self._log = log
        self._places = places
        self._rows: dict[K, R] = {}
        self._numbers: dict[K, int] = {}
        self._shelves: dict[Shelf, list[_Entry[K]]] = {}
        self._given = 0

    def get(self, key: K) -> R | None:
        """Return the record, or None."""
        return self._rows.get(key)

    def put(self, key: K, record: R) -> None:
        """Add the record, or put it in the place of the one with its key."""
        self._log.record(partial(self._set, key, self._rows.get(key)))
        self._set(key, record)

    def remove(self, key: K) -> None:
        """Remove the record that has the key."""
        self._log.record(partial(self._put_back, key, self._rows[key], self._numbers[key]))
        self._set(key, None)

    def all(self) -> Sequence[R]:
        """Return every record, in the order in which they were first put."""
        return tuple(self._rows.values())

    def from_number(self, after: int) -> Iterator[tuple[int, R]]:
        """Go through the records in the order in which they were first put, each with its number, after that one."""
        return ((self._numbers[key], row) for key, row in self._rows.items() if self._numbers[key] > after)

    def newest_first(self) -> Iterator[R]:
        """Go through the records against the order in which they were first put."""
        return reversed(self._rows.values())

    def on(self, shelf: Shelf) -> Sequence[R]:
        """Return the records of a shelf in their order."""
        return tuple(self._rows[key] for _, _, key in self._shelves.get(shelf, ()))

    def in_order(self, shelf: Shelf) -> Iterator[R]:
        """Go through the records of a shelf in their order, for as long as the caller wants more."""
        return (self._rows[key] for _, _, key in self._shelves.get(shelf, ()))

    def count(self, shelf: Shelf) -> int:
        """Return how many records stand on a shelf."""
        return len(self._shelves.get(shelf, ()))

    def shelves(self, sort: str) -> Sequence[tuple[str, ...]]:
        """Return the names of those shelves that are tuples, begin with `sort`, and on which something stands."""
        names = (cast(tuple[str, ...], name) for name in self._shelves if isinstance(name, tuple))
        return [name for name in names if name[0] == sort]

    def _set(self, key: K, record: R | None) -> None:
        old = self._rows.get(key)
        if old is not None:
            self._take_off(key, old)
        if record is None:
            del self._rows[key], self._numbers[key]
            return
        if old is None:
            self._given += 1
            self._numbers[key] = self._given
        self._stand(key, record, self._numbers[key])

    def _put_back(self, key: K, record: R, number: int) -> None:
        self._numbers[key] = number
        self._stand(key, record, number)
        # It was not the last.
        self._rows = dict(sorted(self._rows.items(), key=lambda row: self._numbers[row[0]]))

    def _stand(self, key: K, record: R, number: int) -> None:
        self._rows[key] = record
        for shelf, order in self._places(record):
            insort(self._shelves.setdefault(shelf, []), (order, number, key))

    def _take_off(self, key: K, record: R) -> None:
        number = self._numbers[key]
        for shelf, order in self._places(record):
            entries = self._shelves[shelf]
            del entries[bisect_left(entries, (order, number, key))]
            if not entries:
                del self._shelves[shelf]
