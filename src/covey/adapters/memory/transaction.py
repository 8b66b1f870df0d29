"""The tables of a space in memory, and the topics that the running commit rings."""

from collections.abc import Collection
from itertools import count
from typing import Final

from covey.adapters.memory.agents import MemoryAgents
from covey.adapters.memory.bindings import MemoryBindings
from covey.adapters.memory.deliveries import MemoryDeliveries, MemoryInboxes
from covey.adapters.memory.flows import MemoryFlows
from covey.adapters.memory.journal import MemoryJournal
from covey.adapters.memory.messages import MemoryMessages
from covey.adapters.memory.offers import MemoryOffers
from covey.adapters.memory.posts import MemoryPosts
from covey.adapters.memory.pruning import MemoryHoldings, MemoryPruned
from covey.adapters.memory.runs import MemoryRuns
from covey.adapters.memory.sessions import MemorySessions
from covey.adapters.memory.settings import MemorySettings
from covey.adapters.memory.tasks import MemoryTasks
from covey.adapters.memory.tickets import MemoryTickets
from covey.adapters.memory.tokens import MemoryTokens
from covey.adapters.memory.trees import MemoryTrees
from covey.adapters.memory.undo import UndoLog
from covey.adapters.memory.waits import MemoryWaits
from covey.core.ids import Topic

_moments: Final = count()
"""Not one's own: a store may be put away and come back."""


class MemoryTransaction:
    """One for the whole life of a store: commits are serial, and the log takes back the one that failed."""

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
        self.holdings = MemoryHoldings(self.messages, self.deliveries, self.tickets, self.tasks, self.posts, self.runs)
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
        self.moment = -1
        self._log = log
        self._rung: dict[Topic, None] = {}

    @property
    def visible(self) -> "MemoryTransaction":
        return self

    def move_on(self) -> None:
        """Come to another moment."""
        self.moment = next(_moments)

    def ring(self, topic: Topic) -> None:
        self._log.record(self._rung.clear)
        self._rung[topic] = None

    def take_rung(self) -> Collection[Topic]:
        """Return the topics that rang, each once, and forget them."""
        rung = tuple(self._rung)
        self._rung.clear()
        return rung
