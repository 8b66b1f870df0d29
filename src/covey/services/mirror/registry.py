"""The registry of mailboxes: our agents are entered there, and agents of foreign programs are taken from there."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Final, NamedTuple

from covey.core.directory.card import Agent, Card, Presence
from covey.core.directory.session import Activity, Session, SessionKind
from covey.core.errors import CoveyError
from covey.core.formats.foreign_files import OURS
from covey.core.formats.mailbox import card_of, entry_of, heard_at, status_in
from covey.core.json import Json
from covey.core.limits import PRESENCE_LEASE
from covey.core.names import OPERATOR, SPACE, AgentName, is_reserved
from covey.ports.folder import Visit
from covey.ports.store import Transaction
from covey.services.act import Act
from covey.services.directory.directory import FRESH, AgentView, agents_now, enrol
from covey.services.directory.presence import SteadyLiveness, end_session, is_live
from covey.services.mirror.files import MirrorContext, foreigner, sender_called
from covey.services.peers.foreign_agents import begin_foreign

BEAT: Final = timedelta(seconds=5)
"""The time for which our heartbeat is fresh."""


class RegistryEntry(NamedTuple):
    """An entry that a foreign program made."""

    card: Card
    status: Presence
    heard_at: datetime | None

    def is_there(self, now: datetime) -> bool:
        """Tell whether the entry reports its agent as present, with a recent heartbeat.

        A heartbeat that is far ahead of the clock is a mistake, and is ignored.
        """
        if self.status is Presence.OFFLINE or self.heard_at is None:
            return False
        return abs(now - self.heard_at) <= PRESENCE_LEASE


class SessionChange(NamedTuple):
    """A change to the session of a foreign program: it begins, is renewed, or ends."""

    agent: AgentName
    session: Session | None
    entered: RegistryEntry | None


def _differs(session: Session | None, entered: RegistryEntry | None) -> bool:
    """Tell whether a session differs from the registry. A heartbeat is recorded only when the last one gets old."""
    if session is None or entered is None:
        return (session is None) is not (entered is None)
    is_busy = entered.status is Presence.BUSY
    is_later = entered.heard_at is not None and entered.heard_at - session.seen_at >= session.lease * FRESH
    return is_later or is_busy is not (session.activity is Activity.BUSY)


class MailboxRegistry:
    def __init__(self, ground: MirrorContext) -> None:
        self._ground = ground

    async def take_in(self, visit: Visit, entries: Mapping[str, Json]) -> None:
        """Register the agents that foreign programs have entered, with their cards. An agent with a session here keeps
        its own card."""
        found: dict[AgentName, RegistryEntry] = {}
        for name, entry in entries.items():
            if name in (OPERATOR, SPACE) or _is_ours(entry):
                continue
            try:
                found[await sender_called(visit, name)] = RegistryEntry(
                    card_of(entry), status_in(entry), heard_at(entry)
                )
            except CoveyError:
                continue  # an invalid entry is ignored
        cards = {name: entered.card for name, entered in found.items()}
        if cards and await self._ground.store.read(lambda tx: _news(tx, cards), is_long=True):
            await self._ground.store.commit(lambda tx: self._enrol(tx, cards), is_long=True)
        if await self._ground.store.read(lambda tx: self._changes(tx, found), is_long=True):
            await self._ground.store.commit(lambda tx: self._seat(tx, found), is_long=True)

    async def _enrol(self, tx: Transaction, cards: Mapping[AgentName, Card]) -> None:
        for name, card in (await _news(tx, cards)).items():
            await enrol(Act(tx, foreigner(name), self._ground.clock.now()), name, card)

    async def _changes(self, tx: Transaction, found: Mapping[AgentName, RegistryEntry]) -> Sequence[SessionChange]:
        """Return the changes that make the sessions of foreign programs agree with the registry."""
        now = self._ground.clock.now()
        changes: list[SessionChange] = []
        for session in await tx.sessions.current():
            if session.kind is SessionKind.REGISTRY and session.agent not in found:
                changes.append(SessionChange(session.agent, session, None))
        for name, entered in found.items():
            there = await tx.sessions.of_agent(name)
            if any(
                not session.is_foreign and is_live(session, self._ground.notice_ports.liveness, now)
                for session in there
            ):
                continue  # an agent with a session here manages its own presence
            session = next((session for session in there if session.kind is SessionKind.REGISTRY), None)
            wanted = entered if entered.is_there(now) else None
            if _differs(session, wanted):
                changes.append(SessionChange(name, session, wanted))
        return changes

    async def _seat(self, tx: Transaction, found: Mapping[AgentName, RegistryEntry]) -> None:
        """Begin, renew and end the sessions of foreign programs."""
        for name, session, entered in await self._changes(tx, found):
            act = Act(tx, foreigner(name), self._ground.clock.now())
            if entered is None:
                if session is not None:
                    await end_session(act, session, "its entry in the registry says offline", ())
                continue
            seen_at = min(entered.heard_at or act.now, act.now)
            activity = Activity.BUSY if entered.status is Presence.BUSY else Activity.IDLE
            if session is not None:
                await tx.sessions.put(session._replace(seen_at=seen_at, activity=activity))
                continue
            await begin_foreign(
                act,
                name,
                self._ground.notice_ports.ids.session_id(),
                SessionKind.REGISTRY,
                PRESENCE_LEASE,
                seen_at,
                activity,
            )

    async def enter(self, visit: Visit) -> None:
        """Write the present state of our agents to the registry, if it differs."""
        now = self._ground.clock.now()
        liveness = SteadyLiveness(self._ground.notice_ports.liveness)
        views = await self._ground.store.read(lambda tx: agents_now(tx, liveness, now), is_long=True)
        there = await visit.registry()
        wanted: dict[str, Mapping[str, Json]] = {}
        for view in views:
            name = await visit.owner_of(view.name)
            entry = _entry(name, view, there.get(name), now)
            if not is_reserved(view.name) and entry is not None:
                wanted[name] = entry
        if wanted:
            await visit.register(wanted)


async def _news(tx: Transaction, cards: Mapping[AgentName, Card]) -> Mapping[AgentName, Card]:
    """Return the cards of agents that are unknown, or known with another card."""
    news: dict[AgentName, Card] = {}
    for name, card in cards.items():
        agent = await tx.agents.get(name)
        wanted = _merged(agent, card)
        sessions = await tx.sessions.of_agent(name)
        if (agent is None or agent.card != wanted) and all(session.is_foreign for session in sessions):
            news[name] = wanted
    return news


def _merged(agent: Agent | None, card: Card) -> Card:
    """Return the agent's card with the fields of the registry's card replaced."""
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
    """Return the registry entry for an agent; None if it is there already, or if a foreign program speaks for the
    agent."""
    if any(session.is_foreign for session in view.sessions):
        return None
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
