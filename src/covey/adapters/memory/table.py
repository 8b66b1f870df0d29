"""A table of records by key, with ordered indexes and undo."""

from bisect import bisect_left, insort
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from functools import partial
from typing import Generic, TypeVar, cast


class UndoLog:
    """An undo log: each change is recorded with its inverse. Undoing a commit runs the inverses, last first."""

    def __init__(self) -> None:
        self._steps: list[Callable[[], None]] | None = None

    def begin(self) -> None:
        """Start a commit."""
        self._steps = []

    def record(self, step: Callable[[], None]) -> None:
        """Record the inverse of the change that the caller is about to make. Raise RuntimeError outside a commit."""
        if self._steps is None:
            raise RuntimeError("only an operation of a commit may write, and only while it runs")
        self._steps.append(step)

    def keep(self) -> None:
        """End the commit and keep its changes."""
        self._steps = None

    def undo(self) -> None:
        """End the commit and undo its changes."""
        steps, self._steps = self._steps or [], None
        for step in reversed(steps):
            step()


K = TypeVar("K", bound=str)
R = TypeVar("R")

Shelf = Hashable
"""The name of an index. Records of one query are on one shelf."""

Order = object
"""The sort key of a record on a shelf. The orders of one shelf must be comparable."""

Places = Callable[[R], Iterable[tuple[Shelf, Order]]]
"""Returns the shelves of a record, and its order on each."""

_Entry = tuple[Order, int, K]


def _nowhere(_record: object) -> Iterable[tuple[Shelf, Order]]:
    return ()


class Table(Generic[K, R]):
    """A table of records. On a shelf, records with equal orders are in the order of their first put."""

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
        """Add the record, or replace the record with the same key."""
        self._log.record(partial(self._set, key, self._rows.get(key)))
        self._set(key, record)

    def remove(self, key: K) -> None:
        """Remove the record with the key."""
        self._log.record(partial(self._put_back, key, self._rows[key], self._numbers[key]))
        self._set(key, None)

    def all(self) -> Sequence[R]:
        """Return every record, in the order in which they were first put."""
        return tuple(self._rows.values())

    def from_number(self, after: int) -> Iterator[tuple[int, R]]:
        """Iterate over the records with a number above `after`, in the order of their first put, each with its
        number."""
        return ((self._numbers[key], row) for key, row in self._rows.items() if self._numbers[key] > after)

    def newest_first(self) -> Iterator[R]:
        """Iterate over the records in the reverse order of their first put."""
        return reversed(self._rows.values())

    def on(self, shelf: Shelf) -> Sequence[R]:
        """Return the records of a shelf in their order."""
        return tuple(self._rows[key] for _, _, key in self._shelves.get(shelf, ()))

    def in_order(self, shelf: Shelf) -> Iterator[R]:
        """Iterate lazily over the records of a shelf in their order."""
        return (self._rows[key] for _, _, key in self._shelves.get(shelf, ()))

    def count(self, shelf: Shelf) -> int:
        """Return the number of records on a shelf."""
        return len(self._shelves.get(shelf, ()))

    def shelves(self, sort: str) -> Sequence[tuple[str, ...]]:
        """Return the names of the shelves that are not empty, are named by a tuple, and whose name starts with
        `sort`."""
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
        # The insertion put the record last in the dict, which is not its place.
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
