"""Fault injection: a store and a log that die at a chosen point, like a killed process."""

from collections.abc import Awaitable, Callable, Iterator, Sequence
from enum import StrEnum
from typing import NamedTuple, TypeVar, cast

from covey.core.names import Topic
from covey.ports.log import AppendCallback, Log, LogEntry, LogState, RecordCallback
from covey.ports.store import Capabilities, Operation, Store, Survives, Transaction

WRITES = frozenset(
    {
        "add",
        "append",
        "forget",
        "next_number",
        "place",
        "put",
        "remember",
        "remove",
        "remove_offers",
        "remove_runs",
        "sweep",
    }
)
"""The names of the writing methods of all tables."""

Table = TypeVar("Table")


class _CountingTable:
    def __init__(self, table: object, written: Callable[[], None]) -> None:
        self._table = table
        self._written = written

    def __getattr__(self, name: str) -> object:
        method = getattr(self._table, name)
        if name not in WRITES:
            return method

        async def write(*args: object, **kwargs: object) -> object:
            result = await cast(Callable[..., Awaitable[object]], method)(*args, **kwargs)
            self._written()
            return result

        return write


class CountingTransaction:
    """A transaction that calls `written` after every write. An exception of `written` is raised by the write."""

    def __init__(self, transaction: Transaction, written: Callable[[], None]) -> None:
        def counting(table: Table) -> Table:
            return cast(Table, _CountingTable(table, written))

        self.agents = counting(transaction.agents)
        self.sessions = counting(transaction.sessions)
        self.tokens = counting(transaction.tokens)
        self.settings = counting(transaction.settings)
        self.messages = counting(transaction.messages)
        self.deliveries = counting(transaction.deliveries)
        self.inboxes = transaction.inboxes
        self.offers = counting(transaction.offers)
        self.tickets = counting(transaction.tickets)
        self.tasks = counting(transaction.tasks)
        self.runs = counting(transaction.runs)
        self.trees = counting(transaction.trees)
        self.flows = counting(transaction.flows)
        self.waits = counting(transaction.waits)
        self.posts = counting(transaction.posts)
        self.bindings = counting(transaction.bindings)
        self.journal = counting(transaction.journal)
        self.retention = transaction.retention
        self.pruned = counting(transaction.pruned)
        self._transaction = transaction

    @property
    def visible(self) -> "CountingTransaction":
        return self

    @property
    def directory_version(self) -> int:
        return self._transaction.directory_version

    def ring(self, topic: Topic) -> None:
        self._transaction.ring(topic)


T = TypeVar("T")


class Died(Exception):
    """The store is dead. Not a CoveyError: no code of Covey may expect this exception, because a killed process sees
    nothing."""


class DeathMoment(StrEnum):
    BEFORE = "before"
    """Nothing of the commit has happened."""
    WITHIN = "within"
    """A part of the commit was written, and nothing of that part counts."""
    AFTER = "after"
    """The commit is durable, but the caller never learns of it."""


class Death(NamedTuple):
    commit: int
    """The number of the commit, counted from 1."""
    moment: DeathMoment
    write: int = 0
    """For WITHIN: the number of writes in that commit before the death."""


class DyingStore:
    """A store that delegates to `store` until its death. Without a death it only counts writes: a first run finds all
    the deaths to try."""

    def __init__(self, store: Store, death: Death | None = None) -> None:
        self._store = store
        self._death = death
        self._is_dead = False
        self.writes: list[int] = []
        """The number of writes of each commit so far."""

    @property
    def capabilities(self) -> Capabilities:
        return self._store.capabilities

    async def commit(self, operation: Operation[T], *, is_long: bool = False, is_light: bool = False) -> T:
        self._refuse_when_dead()
        self.writes.append(0)
        number = len(self.writes)
        self._die_at(Death(number, DeathMoment.BEFORE))

        def count_write() -> None:
            self.writes[number - 1] += 1
            self._die_at(Death(number, DeathMoment.WITHIN, self.writes[number - 1]))

        async def counted(transaction: Transaction) -> T:
            self.writes[number - 1] = 0
            return await operation(CountingTransaction(transaction, count_write))

        result = await self._store.commit(counted, is_long=is_long, is_light=is_light)
        self._die_at(Death(number, DeathMoment.AFTER))
        return result

    async def read(self, operation: Operation[T], *, is_long: bool = False) -> T:
        self._refuse_when_dead()
        return await self._store.read(operation, is_long=is_long)

    async def close(self) -> None:
        """Close the underlying store, dead or not, so that a test can open its files again."""
        await self._store.close()

    def _die_at(self, point: Death) -> None:
        self._is_dead = self._is_dead or point == self._death
        self._refuse_when_dead()

    def _refuse_when_dead(self) -> None:
        if self._is_dead:
            raise Died(f"the store died: {self._death}")


def deaths(writes: Sequence[int]) -> Iterator[Death]:
    """Yield every possible death in a run whose commits made these numbers of `writes`."""
    for commit, count in enumerate(writes, 1):
        yield Death(commit, DeathMoment.BEFORE)
        yield from (Death(commit, DeathMoment.WITHIN, write) for write in range(1, count + 1))
        yield Death(commit, DeathMoment.AFTER)


class DyingLog:
    """A log that delegates to `log` until its death at an addition, counted from 1. At 0 it only counts additions."""

    def __init__(self, log: Log, addition: int = 0, moment: DeathMoment = DeathMoment.BEFORE) -> None:
        self._log = log
        self._addition = addition
        self._moment = moment
        self._is_dead = False
        self.name = log.name
        self.additions = 0

    @property
    def author(self) -> str | None:
        return self._log.author

    def survives(self) -> Survives:
        return self._log.survives()

    def state(self, at_least: int = 0) -> LogState | None:
        self._refuse_when_dead()
        return self._log.state(at_least)

    def make(self) -> None:
        self._refuse_when_dead()
        self._log.make()

    def append(self, record: bytes, expected: int, record_id: str) -> int | None:
        self._refuse_when_dead()
        self.additions += 1
        self._die_at(DeathMoment.BEFORE)
        position = self._log.append(record, expected, record_id)
        self._die_at(DeathMoment.AFTER)
        return position

    def begin_append(self, record: bytes, expected: int, record_id: str, tell: AppendCallback) -> None:
        try:
            outcome = self.append(record, expected, record_id)
        except Died as death:
            outcome = death
        tell(outcome)

    def after(self, position: int, limit: int) -> Sequence[LogEntry] | None:
        self._refuse_when_dead()
        return self._log.after(position, limit)

    def listen(self, hear: RecordCallback) -> Callable[[], None]:
        return self._log.listen(hear)

    def close(self) -> None:
        self._log.close()

    def _die_at(self, moment: DeathMoment) -> None:
        self._is_dead = self._is_dead or (self.additions == self._addition and moment is self._moment)
        self._refuse_when_dead()

    def _refuse_when_dead(self) -> None:
        if self._is_dead:
            raise Died(f"died {self._moment} addition {self._addition}")
