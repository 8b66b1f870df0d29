"""Agents in memory."""

from collections.abc import Callable, Sequence

from covey.adapters.memory.table import Table
from covey.adapters.memory.undo import UndoLog
from covey.core.card import Agent
from covey.core.names import AgentName


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
        """Return every agent by name, with the last number that was given for it."""
        agents = sorted(self._agents.all(), key=lambda agent: agent.name)
        return [(agent, self._numbers.get(agent.name) or 0) for agent in agents]

    async def next_number(self, name: AgentName, count: int = 1) -> int:
        if self._agents.get(name) is None:
            raise LookupError(f"no agent {name} to count for")
        last = self._numbers.get(name) or 0
        self._numbers.put(name, last + count)
        return last + 1
