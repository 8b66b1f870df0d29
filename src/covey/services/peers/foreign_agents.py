"""Foreign agents: programs on the peers' wire. Each of their goals is a session here."""

from datetime import datetime, timedelta
from typing import Final

from covey.core.directory.card import DEFAULT_CAPACITY, PEERS_CAPACITY, Agent, Capacity, Card
from covey.core.directory.session import Activity, Holder, Session, SessionKind, lease_holds
from covey.core.errors import IdentityRefused
from covey.core.formats.peers import InboxMessage, names_for
from covey.core.identity import THE_SPACE, Grade, Identity
from covey.core.ledger.event import Action
from covey.core.limits import UNREGISTERED_WAIT
from covey.core.names import AgentName, SessionId
from covey.ports.clock import Clock
from covey.ports.store import Store, Transaction
from covey.services.act import Act, journal
from covey.services.directory.directory import FRESH, new_key

_NO_SECRET: Final = ""


class ForeignAgents:
    def __init__(self, store: Store, clock: Clock) -> None:
        self._store = store
        self._clock = clock

    async def greet(self, message: InboxMessage) -> Identity:
        """Return the identity of the sender of a message on the wire, and record that its goal is reachable. Raise
        IdentityRefused if the goal is a session of this space, or of another program."""

        async def look(tx: Transaction) -> AgentName | None:
            session = await tx.sessions.get(message.from_goal_id)
            return session.agent if session is not None and await self._is_fresh(tx, session, message) else None

        async def operation(tx: Transaction) -> AgentName:
            return await self._admit(Act(tx, THE_SPACE, self._clock.now()), message)

        name = await self._store.read(look) or await self._store.commit(operation)
        return Identity(name, message.from_goal_id, Grade.CLAIMED)

    async def _is_fresh(self, tx: Transaction, session: Session, message: InboxMessage) -> bool:
        """Tell whether the goal's session was seen so recently that the message need not be recorded."""
        agent = await tx.agents.get(session.agent)
        return (
            agent is not None
            and agent.card.wire_name == message.from_agent_id
            and session.kind is _kind(message)
            and not session.has_ended
            and self._clock.now() - session.seen_at < session.lease * FRESH
        )

    async def _admit(self, act: Act, message: InboxMessage) -> AgentName:
        agent = await _agent(act, message.from_agent_id)
        known = await act.tx.sessions.get(message.from_goal_id)
        if known is not None:
            _check_own(known, agent, lives=not known.has_ended and lease_holds(known, act.now))
        if known is not None and known.agent == agent.name and not known.has_ended:
            await act.tx.sessions.put(known._replace(kind=_kind(message), seen_at=act.now))
            return agent.name
        await begin_foreign(
            act, agent.name, message.from_goal_id, _kind(message), UNREGISTERED_WAIT, act.now, capacity=PEERS_CAPACITY
        )
        return agent.name


async def begin_foreign(
    act: Act,
    agent: AgentName,
    session_id: SessionId,
    kind: SessionKind,
    lease: timedelta,
    seen_at: datetime,
    activity: Activity = Activity.IDLE,
    capacity: Capacity = DEFAULT_CAPACITY,
) -> None:
    """Start the session of a foreign program. No secret matches its hash, so that no caller can act from it."""
    live = await act.tx.sessions.of_agent(agent)
    key = new_key(agent, session_id, None, live)
    session = Session(session_id, key, agent, kind, Holder(), _NO_SECRET, act.now, seen_at, lease, activity)
    await act.tx.sessions.put(session._replace(capacity=capacity))
    await journal(act, Action.SESSION_JOINED, agent=agent, session=session_id, key=str(key), kind=str(kind))


def _check_own(session: Session, agent: Agent, *, lives: bool) -> None:
    if not session.is_on_wire or (lives and session.agent != agent.name):
        raise IdentityRefused(f"the goal {session.id} is a session of {session.agent}")


async def _agent(act: Act, foreign: str) -> Agent:
    """Return the agent that stands for a foreign program. Register it at its first message."""
    for name in names_for(foreign):
        agent = await act.tx.agents.get(name)
        if agent is None:
            about = f"a program on the peers' wire, called {foreign} there"
            agent = Agent(name, Card(description=about, quota=0, wire_name=foreign), act.now)
            await act.tx.agents.put(agent)
            await journal(act, Action.AGENT_REGISTERED, agent=name, description=about)
            return agent
        if agent.card.wire_name == foreign:
            return agent
    raise IdentityRefused(f"all names for {foreign} are taken")


def _kind(message: InboxMessage) -> SessionKind:
    return SessionKind.WIRE_ENVELOPE if message.is_enveloped else SessionKind.WIRE
