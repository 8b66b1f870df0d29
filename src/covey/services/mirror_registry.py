"""The registry of mailboxes: our agents are entered there, and whom foreign programs entered is known here."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Final

from covey.core.card import Agent, Card
from covey.core.errors import CoveyError
from covey.core.json import Json
from covey.core.layout_registry import card_of, entry_of, heard_at
from covey.core.layout_writing import OURS
from covey.core.names import RESERVED, AgentName
from covey.ports.folder import Visit
from covey.ports.store import Transaction
from covey.services.act import Act
from covey.services.directory import AgentView, agents_now, enrol
from covey.services.mirror_ground import Ground, foreigner, sender_called
from covey.services.steady import SteadyLiveness

BEAT: Final = timedelta(seconds=5)
"""How long a heartbeat of ours is fresh."""


class Registry:
    def __init__(self, ground: Ground) -> None:
        self._ground = ground

    async def take_in(self, visit: Visit, entries: Mapping[str, Json]) -> None:
        """Make known whom foreign programs have entered, with their cards; who is in a session here has its own."""
        cards: dict[AgentName, Card] = {}
        for name, entry in entries.items():
            if name in RESERVED or _is_ours(entry):
                continue
            try:
                cards[await sender_called(visit, name)] = card_of(entry)
            except CoveyError:
                continue  # what is no entry says nothing of anybody
        if cards and await self._ground.store.read(lambda tx: _news(tx, cards), is_long=True):
            await self._ground.store.commit(lambda tx: self._enrol(tx, cards), is_long=True)

    async def _enrol(self, tx: Transaction, cards: Mapping[AgentName, Card]) -> None:
        for name, card in (await _news(tx, cards)).items():
            await enrol(Act(tx, foreigner(name), self._ground.clock.now()), name, card)

    async def enter(self, visit: Visit) -> None:
        """Enter our agents as they are now. Nothing is written where the registry says so already."""
        now = self._ground.clock.now()
        liveness = SteadyLiveness(self._ground.desk.liveness)
        views = await self._ground.store.read(lambda tx: agents_now(tx, liveness, now), is_long=True)
        there = await visit.registry()
        wanted: dict[str, Mapping[str, Json]] = {}
        for view in views:
            name = await visit.owner_of(view.name)
            entry = _entry(name, view, there.get(name), now)
            if view.name not in RESERVED and entry is not None:
                wanted[name] = entry
        if wanted:
            await visit.register(wanted)


async def _news(tx: Transaction, cards: Mapping[AgentName, Card]) -> Mapping[AgentName, Card]:
    """Return the cards of whom nobody knows yet, or knows otherwise."""
    news: dict[AgentName, Card] = {}
    for name, card in cards.items():
        agent = await tx.agents.get(name)
        wanted = _merged(agent, card)
        if (agent is None or agent.card != wanted) and not await tx.sessions.of_agent(name):
            news[name] = wanted
    return news


def _merged(agent: Agent | None, card: Card) -> Card:
    """Return a card with what a registry says; the rest of it is as it was."""
    if agent is None or agent.card.channel:
        return card if agent is None else agent.card
    return agent.card._replace(
        description=card.description,
        capabilities=card.capabilities,
        allow_from=card.allow_from,
        quota=card.quota,
    )


def _is_ours(entry: Json) -> bool:
    return isinstance(entry, Mapping) and OURS in entry


def _entry(name: str, view: AgentView, there: Json, now: datetime) -> Mapping[str, Json] | None:
    """Return what the registry should say of an agent; None where it does, or where a foreign program speaks for it."""
    if not view.sessions and there is not None and not _is_ours(there):
        return None
    heard = heard_at(there)
    is_fresh = heard is not None and timedelta(0) <= now - heard < BEAT
    beat = now if view.sessions and not is_fresh else heard or view.registered_at
    entry: dict[str, Json] = {
        **entry_of(name, view.card, view.presence, view.current_tasks, view.registered_at, beat),
        OURS: {},
    }
    is_said = isinstance(there, Mapping) and all(there.get(field) == value for field, value in entry.items())
    return None if is_said else entry
