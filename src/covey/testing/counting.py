"""A transaction that reports each of its writes."""

from collections.abc import Awaitable, Callable
from typing import TypeVar, cast

from covey.core.ids import Topic
from covey.ports.store import Transaction

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
"""The methods of all tables that write."""

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
    """Calls `written` after every write; what that raises comes out of the write."""

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
        self.holdings = transaction.holdings
        self.pruned = counting(transaction.pruned)
        self._transaction = transaction

    @property
    def visible(self) -> "CountingTransaction":
        return self

    @property
    def moment(self) -> int:
        return self._transaction.moment

    def ring(self, topic: Topic) -> None:
        self._transaction.ring(topic)
