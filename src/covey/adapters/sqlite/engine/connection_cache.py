"""What a connection remembers from one transaction to the next, until somebody else has written."""

from collections.abc import Callable, Sequence
from itertools import count
from typing import Final

from covey.core.directory.card import Agent
from covey.core.directory.session import Session
from covey.core.ids import InboxId, SessionId
from covey.core.names import AgentName

MAX_KNOWN: Final = 10_000
"""How many agents, sessions, settings or inboxes are remembered; at the bound all are forgotten."""

_moments: Final = count()


class ConnectionCache:
    """Agents, sessions and settings as they were read last, and what is counted."""

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
        """Settings as they were read last, and which there are none of."""
        self.numbered: dict[AgentName, int] = {}
        """The last number that was given to a message for an agent."""
        self.queued: dict[InboxId, int] = {}
        """How many are queued in an inbox."""
        self.last: int | None = None
        """The last number that an event or a placed delivery got; None where it has to be looked up."""
        self.unwritten: dict[AgentName | InboxId, bool] = {}
        """The counts that have changed and are not written yet; for each, whether it is an agent's."""
        self.changes = 0
        """How often a count has changed."""
        self.version = 0
        """SQLite's number for what the others have committed."""
        self.moment = -1
        """Which one the transaction sees; another one as soon as it changes an agent, a session or a setting."""
        self.directory: int | None = None
        """How often agents, sessions and settings had changed when they were read; None to look it up."""

    def at(self, version: int, directory: Callable[[], int]) -> None:
        """Begin a transaction, at a moment of its own. Keep what is remembered if nobody else has written since the
        last one; where they have, keep agents, sessions and settings if these have not changed, which `directory` looks
        up."""
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
        """Come to another moment."""
        self.moment = next(_moments)

    def forget(self) -> None:
        """Forget everything: something that was written has been undone."""
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
