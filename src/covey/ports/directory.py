"""Agents, sessions, tokens and settings: collections of records in a transaction."""

from collections.abc import Sequence
from typing import Protocol

from covey.core.directory.card import Agent
from covey.core.directory.session import Ancestor, Holder, Session
from covey.core.identity import SessionKey, Token
from covey.core.names import AgentName, Label, SessionId


class Agents(Protocol):
    """The agents of a space, by name."""

    async def get(self, name: AgentName) -> Agent | None:
        """Return the agent, or None."""
        ...

    async def put(self, agent: Agent) -> None:
        """Add or replace the agent. Its message numbers go on counting."""
        ...

    async def all(self) -> Sequence[Agent]:
        """Return every agent, by name."""
        ...

    async def next_number(self, name: AgentName, count: int = 1) -> int:
        """Allocate `count` message numbers for the agent, and return the first: 1, 2, 3… Each number is given once,
        also after a restart. The agent must exist."""
        ...


class Sessions(Protocol):
    """Sessions, live and ended, by id."""

    async def get(self, session_id: SessionId) -> Session | None:
        """Return the session, ended or not, or None."""
        ...

    async def put(self, session: Session) -> None:
        """Add or replace the session."""
        ...

    async def of_agent(self, agent: AgentName) -> Sequence[Session]:
        """Return the agent's sessions that have not ended, oldest first. The cost does not grow with ended ones."""
        ...

    async def with_key(self, key: SessionKey) -> Sequence[Session]:
        """Return the sessions with this key that have not ended, oldest first."""
        ...

    async def with_label(self, label: Label) -> Sequence[Session]:
        """Return the sessions with this label that have not ended, oldest first."""
        ...

    async def current(self) -> Sequence[Session]:
        """Return all sessions that have not ended, oldest first."""
        ...


class Tokens(Protocol):
    """Tokens, by hash."""

    async def get(self, token_hash: str) -> Token | None:
        """Return the token, revoked or not, or None."""
        ...

    async def put(self, token: Token) -> None:
        """Add or replace the token."""
        ...

    async def all(self) -> Sequence[Token]:
        """Return every token, oldest first."""
        ...


class Settings(Protocol):
    """The space's settings: names and texts."""

    async def get(self, name: str) -> str | None:
        """Return the value of the setting, or None if it was never put."""
        ...

    async def put(self, name: str, value: str) -> None:
        """Add or replace the setting."""
        ...


class Liveness(Protocol):
    """Locks and processes of this machine."""

    def hold(self) -> Holder:
        """Return the holder of this process, which is held as long as the process lives. It is the same for all its
        sessions in one space."""
        ...

    def process(self, pid: int) -> Holder | None:
        """Return the holder for a running process, or None if there is no such process."""
        ...

    def ancestors(self) -> Sequence[Ancestor]:
        """Return the ancestors of this process, its parent first, as far as they are visible."""
        ...

    def is_held(self, holder: Holder) -> bool:
        """Tell whether the holder's lock is held, or its process runs and is the same one (id and start time)."""
        ...

    def close(self) -> None:
        """Release the holder of this process: from now on it is not held."""
        ...
