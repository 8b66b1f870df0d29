"""The transaction: all records over one connection, and the topics to ring."""

from covey.adapters.sqlite.access import Access
from covey.adapters.sqlite.agents import SqliteAgents
from covey.adapters.sqlite.deliveries import SqliteDeliveries
from covey.adapters.sqlite.inboxes import SqliteInboxes
from covey.adapters.sqlite.journal import SqliteJournal
from covey.adapters.sqlite.messages import SqliteMessages
from covey.adapters.sqlite.offers import SqliteOffers
from covey.adapters.sqlite.sessions import SqliteSessions
from covey.adapters.sqlite.settings import SqliteSettings, SqliteTokens
from covey.adapters.sqlite.tickets import SqliteTickets
from covey.core.ids import Topic


class SqliteTransaction:
    """One object for all transactions of a connection: it holds nothing of its own but the topics."""

    __slots__ = (
        "agents",
        "deliveries",
        "inboxes",
        "journal",
        "messages",
        "offers",
        "sessions",
        "settings",
        "tickets",
        "tokens",
        "topics",
    )

    def __init__(self, access: Access) -> None:
        self.agents = SqliteAgents(access)
        self.sessions = SqliteSessions(access)
        self.tokens = SqliteTokens(access)
        self.settings = SqliteSettings(access)
        self.messages = SqliteMessages(access)
        self.deliveries = SqliteDeliveries(access)
        self.inboxes = SqliteInboxes(access)
        self.offers = SqliteOffers(access)
        self.tickets = SqliteTickets(access)
        self.journal = SqliteJournal(access)
        self.topics: list[Topic] = []

    def ring(self, topic: Topic) -> None:
        self.topics.append(topic)
