"""The cache of a connection: kept from one transaction to the next, until another connection has written."""

from collections.abc import Callable, Sequence
from itertools import count
from typing import Final

from covey.core.directory.card import Agent
from covey.core.directory.session import Session
from covey.core.ids import InboxId, SessionId
from covey.core.names import AgentName

MAX_KNOWN: Final = 10_000
"""Limit of cached agents, sessions, settings and inboxes, for each kind. Above the limit the whole cache is dropped."""

_moments: Final = count()


class ConnectionCache:
    """Agents, sessions and settings as last read, and the counters."""

    __slots__ = (
        "agents",
        "changes",
        "directory",
        "last",
        "moment",
        "numbered",
        "queued",
        "sessions",
        "sessions_of",
        "settings",
        "unwritten",
        "version",
    )

    def __init__(self) -> None:
        self.agents: dict[AgentName, Agent] = {}
        self.sessions: dict[SessionId, Session] = {}
        self.sessions_of: dict[AgentName, Sequence[Session]] = {}
        self.settings: dict[str, str | None] = {}
        """Settings as last read. None means that the store has no such setting."""
        self.numbered: dict[AgentName, int] = {}
        """The last number that was given to a message, by recipient agent."""
        self.queued: dict[InboxId, int] = {}
        """Count of queued deliveries, by inbox."""
        self.last: int | None = None
        """The last number of an event or a placed delivery. None means that the number must be read from the store."""
        self.unwritten: dict[AgentName | InboxId, bool] = {}
        """Counters that have changed and are not written yet. The value is True for an agent's counter."""
        self.changes = 0
        """Number of changes of the counters."""
        self.version = 0
        """SQLite's number for the commits of other connections."""
        self.moment = -1
        """Number of the view that the transaction sees. The number changes when the transaction changes an agent, a
        session or a setting."""
        self.directory: int | None = None
        """Number of changes of agents, sessions and settings at the last read. None means that the number must be read
        from the store."""

    def at(self, version: int, directory: Callable[[], int]) -> None:
        """Begin a transaction, with a new moment. If no other connection has written since the last transaction, keep
        the cache. Otherwise drop the counters, and keep agents, sessions and settings only if the number that
        `directory` reads is unchanged."""
        self.move_on()
        if max(len(self.agents), len(self.sessions), len(self.settings), len(self.queued)) > MAX_KNOWN:
            self.forget()
        if version != self.version:
            self._forget_counts()
            changes = directory()
            if changes != self.directory:
                self._forget_directory()
                self.directory = changes
            self.version = version

    def move_on(self) -> None:
        """Start a new moment."""
        self.moment = next(_moments)

    def forget(self) -> None:
        """Drop the whole cache, because a write was undone."""
        self.move_on()
        self._forget_counts()
        self._forget_directory()
        self.directory = None

    def _forget_counts(self) -> None:
        self.numbered.clear()
        self.queued.clear()
        self.unwritten.clear()
        self.last = None

    def _forget_directory(self) -> None:
        self.agents.clear()
        self.sessions.clear()
        self.sessions_of.clear()
        self.settings.clear()
