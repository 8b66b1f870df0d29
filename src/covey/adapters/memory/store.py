"""The store in memory: an undo log makes commits atomic, and they are serial because none ever suspends."""

from collections.abc import Callable, Collection, Generator
from contextlib import contextmanager
from itertools import count
from typing import Final, TypeVar

from covey.adapters.memory.channels import MemoryBindings, MemoryPosts
from covey.adapters.memory.directory import MemoryAgents, MemorySessions, MemorySettings, MemoryTokens
from covey.adapters.memory.ledger import (
    MemoryDeliveries,
    MemoryInboxes,
    MemoryJournal,
    MemoryMessages,
    MemoryOffers,
    MemoryTickets,
)
from covey.adapters.memory.pruning import MemoryPruned, MemoryRetentionQueries
from covey.adapters.memory.storms import MemoryFlows, MemoryTrees
from covey.adapters.memory.table import UndoLog
from covey.adapters.memory.work import MemoryRuns, MemoryTasks, MemoryWaits
from covey.core.coroutine import finish
from covey.core.errors import StoreClosed
from covey.core.names import Topic
from covey.ports.store import Capabilities, Operation, Survives

_versions: Final = count()
"""Shared by all stores, because a store may be put away and come back."""


class MemoryTransaction:
    """The only transaction of a store: commits are serial, and the undo log takes back a failed commit."""

    def __init__(self, log: UndoLog) -> None:
        self.agents = MemoryAgents(log, self.move_on)
        self.sessions = MemorySessions(log, self.move_on)
        self.tokens = MemoryTokens(log)
        self.settings = MemorySettings(log, self.move_on)
        self.messages = MemoryMessages(log)
        self.deliveries = MemoryDeliveries(log)
        self.inboxes = MemoryInboxes(self.deliveries)
        self.offers = MemoryOffers(log)
        self.tickets = MemoryTickets(log)
        self.tasks = MemoryTasks(log)
        self.runs = MemoryRuns(log)
        self.trees = MemoryTrees(log)
        self.flows = MemoryFlows(log)
        self.waits = MemoryWaits(log)
        self.posts = MemoryPosts(log)
        self.bindings = MemoryBindings(log)
        self.journal = MemoryJournal(log)
        self.retention = MemoryRetentionQueries(
            self.messages, self.deliveries, self.tickets, self.tasks, self.posts, self.runs
        )
        self.pruned = MemoryPruned(
            log,
            self.messages,
            self.deliveries,
            self.tickets,
            self.tasks,
            self.posts,
            self.runs,
            self.offers,
            self.journal,
        )
        self.directory_version = -1
        self._log = log
        self._rung: dict[Topic, None] = {}

    @property
    def visible(self) -> "MemoryTransaction":
        return self

    def move_on(self) -> None:
        """Start a new directory version."""
        self.directory_version = next(_versions)

    def ring(self, topic: Topic) -> None:
        self._log.record(self._rung.clear)
        self._rung[topic] = None

    def take_rung(self) -> Collection[Topic]:
        """Return the topics that were rung, each once, and clear them."""
        rung = tuple(self._rung)
        self._rung.clear()
        return rung


T = TypeVar("T")

Ring = Callable[[Collection[Topic]], None]


def _ring_nobody(_topics: Collection[Topic]) -> None: ...


class MemoryStore:
    """A store for one thread. `commit` and `read` never suspend, so they can be driven without an event loop."""

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
        del is_long, is_light  # there is only the calling thread, and no disk
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
            raise RuntimeError("an operation may await only its transaction: this one began another on the store")
        self._is_running = True
        self._transaction.move_on()
        try:
            yield
        finally:
            self._is_running = False
