"""Agents in SQLite."""

from collections.abc import Sequence
from functools import lru_cache

from covey.adapters.sqlite.access import Access
from covey.adapters.sqlite.connection import Row
from covey.adapters.sqlite.counts import next_number
from covey.adapters.sqlite.records import record_of
from covey.adapters.sqlite.statements import statements
from covey.adapters.sqlite.values import from_json, to_instant, to_text
from covey.core.card import Agent, Card, encode_card, parse_card
from covey.core.compact import to_json
from covey.core.names import AgentName

_SQL = statements("agents")
_GET = _SQL["get"]


class SqliteAgents:
    __slots__ = ("_access",)

    def __init__(self, access: Access) -> None:
        self._access = access

    async def get(self, name: AgentName) -> Agent | None:
        known = self._access.known.agents
        agent = known.get(name)
        if agent is None:
            row = self._access.read(_GET, (name,)).fetchone()
            if row is None:
                return None
            agent = known[name] = _decode(row)
        return agent

    async def put(self, agent: Agent) -> None:
        row = (agent.name, to_json(encode_card(agent.card)), to_text(agent.registered_at), agent.status)
        self._access.write(_SQL["put"], row)
        self._access.change_directory()
        self._access.known.agents[agent.name] = agent

    async def all(self) -> Sequence[Agent]:
        return [_decode(row) for row in self._access.read(_SQL["all"])]

    async def next_number(self, name: AgentName, count: int = 1) -> int:
        return next_number(self._access, name, count)


@record_of("agents")
def _decode(row: Row) -> Agent:
    name, card, registered_at, status = row
    return Agent(name, _card(card), to_instant(registered_at), status)


@lru_cache(maxsize=256)
def _card(text: str) -> Card:
    return parse_card(from_json(text))
