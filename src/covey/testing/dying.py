"""A store that dies where it is told, as a killed process does."""

from collections.abc import Iterator, Sequence
from enum import StrEnum
from typing import NamedTuple, TypeVar

from covey.ports.store import Capabilities, Operation, Store, Transaction
from covey.testing.counting import CountingTransaction

T = TypeVar("T")


class Died(Exception):
    """The store is dead. Not a CoveyError: no code of ours may expect it, because a killed process sees nothing."""


class Moment(StrEnum):
    BEFORE = "before"
    """Nothing of the commit has happened."""
    WITHIN = "within"
    """Some of it was written, and nothing of that counts."""
    AFTER = "after"
    """It is durable, and the caller is never told."""


class Death(NamedTuple):
    commit: int
    """In which commit, counted from 1."""
    moment: Moment
    write: int = 0
    """WITHIN: after how many writes of that commit."""


class DyingStore:
    """Does what `store` does until its death. Without one it only counts: a first run finds all the deaths to try."""

    def __init__(self, store: Store, death: Death | None = None) -> None:
        self._store = store
        self._death = death
        self._is_dead = False
        self.writes: list[int] = []
        """How many writes each commit has made so far."""

    @property
    def capabilities(self) -> Capabilities:
        return self._store.capabilities

    async def commit(self, operation: Operation[T], *, is_long: bool = False, is_light: bool = False) -> T:
        self._refuse_when_dead()
        self.writes.append(0)
        number = len(self.writes)
        self._die_at(Death(number, Moment.BEFORE))

        def count_write() -> None:
            self.writes[number - 1] += 1
            self._die_at(Death(number, Moment.WITHIN, self.writes[number - 1]))

        async def counted(transaction: Transaction) -> T:
            self.writes[number - 1] = 0
            return await operation(CountingTransaction(transaction, count_write))

        result = await self._store.commit(counted, is_long=is_long, is_light=is_light)
        self._die_at(Death(number, Moment.AFTER))
        return result

    async def read(self, operation: Operation[T], *, is_long: bool = False) -> T:
        self._refuse_when_dead()
        return await self._store.read(operation, is_long=is_long)

    async def close(self) -> None:
        """Close the store beneath, dead or not: a test wants its files back."""
        await self._store.close()

    def _die_at(self, point: Death) -> None:
        self._is_dead = self._is_dead or point == self._death
        self._refuse_when_dead()

    def _refuse_when_dead(self) -> None:
        if self._is_dead:
            raise Died(f"the store died: {self._death}")


def deaths(writes: Sequence[int]) -> Iterator[Death]:
    """Go through every death that is possible in a run that made so many `writes` in each of its commits."""
    for commit, count in enumerate(writes, 1):
        yield Death(commit, Moment.BEFORE)
        yield from (Death(commit, Moment.WITHIN, write) for write in range(1, count + 1))
        yield Death(commit, Moment.AFTER)
