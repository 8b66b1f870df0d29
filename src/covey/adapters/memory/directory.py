"""Agents, sessions, settings and tokens in memory."""

from collections.abc import Callable, Iterable, Sequence

from covey.adapters.memory.table import Order, Shelf, Table, UndoLog
from covey.core.directory.card import Agent
from covey.core.directory.session import Session
from covey.core.identity import SessionKey, Token
from covey.core.names import AgentName, Label, SessionId


class MemoryAgents:
    def __init__(self, log: UndoLog, changed: Callable[[], None]) -> None:
        self._changed = changed
        self._agents = Table[AgentName, Agent](log)
        self._numbers = Table[AgentName, int](log)

    async def get(self, name: AgentName) -> Agent | None:
        return self._agents.get(name)

    async def put(self, agent: Agent) -> None:
        self._agents.put(agent.name, agent)
        self._changed()

    async def all(self) -> Sequence[Agent]:
        return sorted(self._agents.all(), key=lambda agent: agent.name)

    def numbers(self) -> Sequence[tuple[Agent, int]]:
        """Return every agent with the last number of its mail, sorted by name."""
        agents = sorted(self._agents.all(), key=lambda agent: agent.name)
        return [(agent, self._numbers.get(agent.name) or 0) for agent in agents]

    async def next_number(self, name: AgentName, count: int = 1) -> int:
        if self._agents.get(name) is None:
            raise LookupError(f"no agent {name} to count for")
        last = self._numbers.get(name) or 0
        self._numbers.put(name, last + count)
        return last + 1


def _places(session: Session) -> Iterable[tuple[Shelf, Order]]:
    if session.has_ended:
        return
    yield "current", session.joined_at
    yield ("agent", session.agent), session.joined_at
    yield session.key, session.joined_at
    if session.label is not None:
        yield ("label", session.label), session.joined_at


class MemorySessions:
    def __init__(self, log: UndoLog, changed: Callable[[], None]) -> None:
        self._changed = changed
        self.table = Table[SessionId, Session](log, _places)

    async def get(self, session_id: SessionId) -> Session | None:
        return self.table.get(session_id)

    async def put(self, session: Session) -> None:
        self.table.put(session.id, session)
        self._changed()

    async def of_agent(self, agent: AgentName) -> Sequence[Session]:
        return self.table.on(("agent", agent))

    async def with_key(self, key: SessionKey) -> Sequence[Session]:
        return self.table.on(key)

    async def with_label(self, label: Label) -> Sequence[Session]:
        return self.table.on(("label", label))

    async def current(self) -> Sequence[Session]:
        return self.table.on("current")


class MemorySettings:
    def __init__(self, log: UndoLog, changed: Callable[[], None]) -> None:
        self._changed = changed
        self._settings = Table[str, tuple[str, str]](log)

    async def get(self, name: str) -> str | None:
        setting = self._settings.get(name)
        return setting[1] if setting else None

    async def put(self, name: str, value: str) -> None:
        self._settings.put(name, (name, value))
        self._changed()

    def all(self) -> Sequence[tuple[str, str]]:
        """Return every setting, sorted by name."""
        return sorted(self._settings.all())


class MemoryTokens:
    def __init__(self, log: UndoLog) -> None:
        self._tokens = Table[str, Token](log)

    async def get(self, token_hash: str) -> Token | None:
        return self._tokens.get(token_hash)

    async def put(self, token: Token) -> None:
        self._tokens.put(token.hash, token)

    async def all(self) -> Sequence[Token]:
        return sorted(self._tokens.all(), key=lambda token: token.created_at)
