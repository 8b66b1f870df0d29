"""The transaction: all records over one connection, and the topics to ring."""

from collections.abc import Callable, Collection

from covey.adapters.sqlite.engine.access import Access
from covey.core.ids import Topic
from covey.core.late import late

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
    def moment(self) -> int:
        return self._access.known.moment

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
        from covey.adapters.sqlite.records.messages import SqliteMessages

        return SqliteMessages(self._access)

    @late
    def deliveries(self):
        from covey.adapters.sqlite.records.deliveries import SqliteDeliveries

        return SqliteDeliveries(self._access)

    @late
    def inboxes(self):
        from covey.adapters.sqlite.records.inboxes import SqliteInboxes

        return SqliteInboxes(self._access)

    @late
    def offers(self):
        from covey.adapters.sqlite.records.offers import SqliteOffers

        return SqliteOffers(self._access)

    @late
    def tickets(self):
        from covey.adapters.sqlite.records.tickets import SqliteTickets

        return SqliteTickets(self._access)

    @late
    def tasks(self):
        from covey.adapters.sqlite.records.tasks import SqliteTasks

        return SqliteTasks(self._access)

    @late
    def runs(self):
        from covey.adapters.sqlite.records.runs import SqliteRuns

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
        from covey.adapters.sqlite.records.waits import SqliteWaits

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
    def holdings(self):
        from covey.adapters.sqlite.records.pruning import SqliteHoldings

        return SqliteHoldings(self._access)

    @late
    def pruned(self):
        from covey.adapters.sqlite.records.pruning import SqlitePruned

        return SqlitePruned(self._access)
