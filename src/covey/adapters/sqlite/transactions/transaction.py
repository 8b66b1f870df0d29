"""The transaction: all records over one connection, the topics to ring, and the operations that wait for one."""

from collections.abc import Awaitable, Callable, Collection, Sequence
from typing import Any

from covey.adapters.sqlite.engine.access import Access
from covey.core.errors import StoreUnconfirmed
from covey.core.late import late
from covey.core.names import MessageId, Topic

Ring = Callable[[Collection[Topic]], None]
"""Called with each topic once when a commit is durable, on the thread that writes. Never blocks, never raises."""


def ring_nobody(_topics: Collection[Topic]) -> None:
    """Stand in for wake-ups in a store without waiting programs."""


class SqliteTransaction:
    """The only transaction object of a connection, for all its transactions. Its only state is the topics.

    Each kind of record is loaded at its first use: a short-lived program uses two or three of them. The types of the
    properties below are inferred.
    """

    def __init__(self, access: Access) -> None:
        self._access = access
        self.topics: list[Topic] = []

    def begin(self, version: int) -> None:
        """Begin a transaction. `version` is SQLite's number for the commits of other connections."""
        self._access.begin(version)

    @property
    def visible(self) -> "SqliteTransaction":
        return self

    @property
    def directory_version(self) -> int:
        return self._access.known.directory_version

    def ring(self, topic: Topic) -> None:
        self.topics.append(topic)

    @late
    def agents(self):
        from covey.adapters.sqlite.records.directory import SqliteAgents

        return SqliteAgents(self._access)

    @late
    def sessions(self):
        from covey.adapters.sqlite.records.directory import SqliteSessions

        return SqliteSessions(self._access)

    @late
    def tokens(self):
        from covey.adapters.sqlite.records.directory import SqliteTokens

        return SqliteTokens(self._access)

    @late
    def settings(self):
        from covey.adapters.sqlite.records.directory import SqliteSettings

        return SqliteSettings(self._access)

    @late
    def messages(self):
        from covey.adapters.sqlite.records.mail import SqliteMessages

        return SqliteMessages(self._access)

    @late
    def deliveries(self):
        from covey.adapters.sqlite.records.mail import SqliteDeliveries

        return SqliteDeliveries(self._access)

    @late
    def inboxes(self):
        from covey.adapters.sqlite.records.mail import SqliteInboxes

        return SqliteInboxes(self._access)

    @late
    def offers(self):
        from covey.adapters.sqlite.records.tickets import SqliteOffers

        return SqliteOffers(self._access)

    @late
    def tickets(self):
        from covey.adapters.sqlite.records.tickets import SqliteTickets

        return SqliteTickets(self._access)

    @late
    def tasks(self):
        from covey.adapters.sqlite.records.work import SqliteTasks

        return SqliteTasks(self._access)

    @late
    def runs(self):
        from covey.adapters.sqlite.records.work import SqliteRuns

        return SqliteRuns(self._access)

    @late
    def trees(self):
        from covey.adapters.sqlite.records.storms import SqliteTrees

        return SqliteTrees(self._access)

    @late
    def flows(self):
        from covey.adapters.sqlite.records.storms import SqliteFlows

        return SqliteFlows(self._access)

    @late
    def waits(self):
        from covey.adapters.sqlite.records.work import SqliteWaits

        return SqliteWaits(self._access)

    @late
    def posts(self):
        from covey.adapters.sqlite.records.channels import SqlitePosts

        return SqlitePosts(self._access)

    @late
    def bindings(self):
        from covey.adapters.sqlite.records.channels import SqliteBindings

        return SqliteBindings(self._access)

    @late
    def journal(self):
        from covey.adapters.sqlite.records.journal import SqliteJournal

        return SqliteJournal(self._access)

    @late
    def retention(self):
        from covey.adapters.sqlite.records.pruning import SqliteRetentionQueries

        return SqliteRetentionQueries(self._access)

    @late
    def pruned(self):
        from covey.adapters.sqlite.records.pruning import SqlitePruned

        return SqlitePruned(self._access)


class PendingOperation:
    """An operation and its result."""

    __slots__ = ("error", "filed", "operation", "value")

    def __init__(self, operation: Callable[[Any], Awaitable[Any]]) -> None:
        self.operation = operation
        self.value: Any = None
        self.error: BaseException | None = None
        self.filed: Sequence[MessageId] = ()
        """Messages that the operation has filed."""

    def fail(self, error: BaseException) -> None:
        """Record the error of the batch. If the error leaves durability unknown, it names this operation's own
        messages."""
        is_open = isinstance(error, StoreUnconfirmed)
        self.error = error.about(self.filed) if is_open else error
