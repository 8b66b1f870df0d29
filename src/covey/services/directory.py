"""The directory: agents with their cards, sessions that join and leave, who is idle, busy or offline."""

import hashlib
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import NamedTuple

from covey.core.capacity import Capacity
from covey.core.card import Agent, Card, Presence, check_card
from covey.core.errors import IdentityRefused, LabelAmbiguous, RecipientUnknown, SessionEnded, SessionUnknown
from covey.core.event import Action
from covey.core.identity import Grade, Identity
from covey.core.ids import SessionId
from covey.core.limits import PRESENCE_LEASE
from covey.core.names import RESERVED, AgentName, Label, automatic_name
from covey.core.session import Activity, Holder, Session, SessionKind
from covey.core.session_key import SessionKey, main_key
from covey.core.similar import closest
from covey.ports.clock import Clock, Ids
from covey.ports.presence import Liveness
from covey.ports.store import Store, Transaction
from covey.services.act import Act, journal
from covey.services.early import take_up
from covey.services.leases import renew
from covey.services.presence import adopt, end_session, is_live, live_sessions

NEXT_AUTOMATIC_NAME = "next-automatic-name"


class JoinRequest(NamedTuple):
    """How a session wants to join."""

    name: AgentName | None = None
    """None for an automatic name: agentA, agentB…"""
    card: Card | None = None
    """None leaves the card as it is."""
    kind: SessionKind = SessionKind.ATTACHED
    session_id: SessionId | None = None
    label: Label | None = None
    parent: SessionKey | None = None
    """The key of the session that spawned this one."""
    client_pid: int | None = None
    capacity: Capacity | None = None
    """None takes the card's."""
    lease: timedelta = PRESENCE_LEASE


class Joined(NamedTuple):
    """A new session, the secret that proves it, and how much parked mail it adopted."""

    session: Session
    secret: str
    adopted: int

    @property
    def identity(self) -> Identity:
        return Identity(self.session.agent, self.session.id, Grade.SESSION)


class AgentView(NamedTuple):
    """An agent as others see it now."""

    name: AgentName
    card: Card
    presence: Presence
    status: str | None
    sessions: tuple[Session, ...]
    registered_at: datetime
    last_seen_at: datetime | None
    current_tasks: tuple[str, ...] = ()


class Directory:
    def __init__(self, store: Store, clock: Clock, ids: Ids, liveness: Liveness) -> None:
        self._store = store
        self._clock = clock
        self._ids = ids
        self._liveness = liveness

    async def register(self, name: AgentName, card: Card, actor: Identity) -> Agent:
        """Make an agent known, or change its card. Without a session it is offline, and reachable."""
        check_free(name)

        async def operation(tx: Transaction) -> Agent:
            return await _register(Act(tx, actor, self._clock.now()), name, card)

        return await self._store.commit(operation)

    async def join(self, wish: JoinRequest) -> Joined:
        """Start a session. It adopts the mail that is parked with its agent."""
        session_id = wish.session_id or self._ids.session_id()
        secret = self._ids.secret()
        holder = self._holder(wish)

        async def operation(tx: Transaction) -> Joined:
            now = self._clock.now()
            name = wish.name or await _next_automatic_name(tx)
            check_free(name)
            actor = Identity(name, session_id, Grade.SESSION)
            act = Act(tx, actor, now)
            agent = await tx.agents.get(name)
            if agent is None or (wish.card is not None and wish.card != agent.card):
                agent = await _register(act, name, wish.card or Card())
            live = await live_sessions(act, name, self._liveness)
            if await tx.sessions.get(session_id) is not None:
                raise IdentityRefused(f"the session id {session_id} has been used before")
            session = Session(
                id=session_id,
                key=_key(name, session_id, wish.parent, live),
                agent=name,
                kind=wish.kind,
                holder=holder,
                secret_hash=hash_secret(secret),
                joined_at=now,
                seen_at=now,
                lease=wish.lease,
                label=wish.label,
                capacity=wish.capacity or agent.card.capacity,
            )
            await tx.sessions.put(session)
            await journal(
                act, Action.SESSION_JOINED, agent=name, session=session.id, key=str(session.key), kind=str(session.kind)
            )
            await take_up(act, session)
            return Joined(session, secret, await adopt(act, session))

        return await self._store.commit(operation, is_long=True)

    async def leave(self, actor: Identity, reason: str = "left") -> None:
        """End the actor's session. Leaving twice does nothing."""

        async def operation(tx: Transaction) -> None:
            act = Act(tx, actor, self._clock.now())
            session = await tx.sessions.get(actor.session) if actor.session else None
            if session is None or session.has_ended:
                return
            live = await live_sessions(act, session.agent, self._liveness)
            await end_session(act, session, reason, [s for s in live if s.id != session.id])

        await self._store.commit(operation, is_long=True)

    async def set_activity(self, actor: Identity, activity: Activity) -> None:
        """Say that the actor's session is idle or busy."""

        async def operation(tx: Transaction) -> None:
            session = await own_session(tx, actor)
            now = self._clock.now()
            await tx.sessions.put(session._replace(activity=activity, seen_at=now))
            await journal(
                Act(tx, actor, now),
                Action.SESSION_ACTIVITY,
                agent=session.agent,
                session=session.id,
                activity=str(activity),
            )

        await self._store.commit(operation)

    async def set_status(self, actor: Identity, status: str) -> None:
        """Say what the agent is doing, in its own words."""

        async def operation(tx: Transaction) -> None:
            act = Act(tx, actor, self._clock.now())
            agent = await tx.agents.get(actor.agent)
            if agent is None:
                raise RecipientUnknown(actor.agent)
            await tx.agents.put(agent._replace(status=status))
            await journal(act, Action.AGENT_STATUS, agent=agent.name, status=status)

        await self._store.commit(operation)

    async def heartbeat(self, actor: Identity) -> None:
        """Show a sign of life: the session's lease and its offers' leases begin anew."""

        async def operation(tx: Transaction) -> None:
            session = await own_session(tx, actor)
            now = self._clock.now()
            await tx.sessions.put(session._replace(seen_at=now))
            await renew(Act(tx, actor, now), session)

        await self._store.commit(operation)

    async def agents(self) -> Sequence[AgentView]:
        """Return every agent as it is now, by name. Looking changes nothing."""

        async def operation(tx: Transaction) -> Sequence[AgentView]:
            now = self._clock.now()
            sessions: dict[AgentName, list[Session]] = {}
            for session in await tx.sessions.current():
                if is_live(session, self._liveness, now):
                    sessions.setdefault(session.agent, []).append(session)
            return [view_of(agent, sessions.get(agent.name, ())) for agent in await tx.agents.all()]

        return await self._store.read(operation, is_long=True)

    async def agent(self, name: AgentName) -> AgentView:
        """Return one agent as it is now."""

        async def operation(tx: Transaction) -> AgentView:
            agent = await tx.agents.get(name)
            if agent is None:
                raise RecipientUnknown(name, closest(name, [known.name for known in await tx.agents.all()]))
            now = self._clock.now()
            return view_of(agent, [s for s in await tx.sessions.of_agent(name) if is_live(s, self._liveness, now)])

        return await self._store.read(operation)

    async def session(self, session_id: SessionId) -> Session:
        """Return a session, ended or not."""

        async def operation(tx: Transaction) -> Session:
            session = await tx.sessions.get(session_id)
            if session is None:
                raise SessionUnknown(session_id)
            return session

        return await self._store.read(operation)

    async def labelled(self, label: Label) -> Session:
        """Return the one live session that carries a label; SessionUnknown for none, LabelAmbiguous for several."""

        async def operation(tx: Transaction) -> Session:
            now = self._clock.now()
            live = [s for s in await tx.sessions.with_label(label) if is_live(s, self._liveness, now)]
            if not live:
                raise SessionUnknown(label)
            if len(live) > 1:
                raise LabelAmbiguous(label, [str(session.key) for session in live])
            return live[0]

        return await self._store.read(operation)

    def _holder(self, wish: JoinRequest) -> Holder:
        if wish.kind is SessionKind.ATTACHED:
            return self._liveness.hold()
        if wish.kind is SessionKind.LEASED:
            return Holder()
        holder = self._liveness.process(wish.client_pid) if wish.client_pid is not None else None
        if holder is None:
            raise IdentityRefused(f"there is no client process {wish.client_pid}")
        return holder


async def own_session(tx: Transaction, actor: Identity) -> Session:
    """Return the session the actor acts from; SessionEnded where it is over."""
    session = await tx.sessions.get(actor.session) if actor.session else None
    if session is None:
        raise SessionUnknown(actor.session or "of " + actor.agent)
    if session.has_ended:
        raise SessionEnded(session.id, session.end_reason or "left")
    return session


def view_of(agent: Agent, sessions: Sequence[Session]) -> AgentView:
    """Return how an agent with these live sessions looks."""
    busy = any(session.activity is Activity.BUSY for session in sessions)
    return AgentView(
        name=agent.name,
        card=agent.card,
        presence=Presence.OFFLINE if not sessions else Presence.BUSY if busy else Presence.IDLE,
        status=agent.status,
        sessions=tuple(sessions),
        registered_at=agent.registered_at,
        last_seen_at=max((session.seen_at for session in sessions), default=None),
    )


def check_free(name: AgentName) -> None:
    """Raise IdentityRefused for names that no agent can have."""
    if name in RESERVED:
        raise IdentityRefused(f"the name {name} is reserved")


def hash_secret(secret: str) -> str:
    """Return what is stored of a secret."""
    return hashlib.sha256(secret.encode()).hexdigest()


async def _register(act: Act, name: AgentName, card: Card) -> Agent:
    card = check_card(card)  # one that can't be read again would keep everyone out
    known = await act.tx.agents.get(name)
    agent = known._replace(card=card) if known else Agent(name, card, act.now)
    await act.tx.agents.put(agent)
    await journal(act, Action.AGENT_REGISTERED, agent=name, description=card.description)
    return agent


async def _next_automatic_name(tx: Transaction) -> AgentName:
    index = int(await tx.settings.get(NEXT_AUTOMATIC_NAME) or "0")
    while await tx.agents.get(automatic_name(index)) is not None:
        index += 1
    await tx.settings.put(NEXT_AUTOMATIC_NAME, str(index + 1))
    return automatic_name(index)


def _key(name: AgentName, session_id: SessionId, parent: SessionKey | None, live: Sequence[Session]) -> SessionKey:
    if parent is not None:
        child = parent.child(session_id)
        return child if parent.agent == name else child._replace(agent=name)
    return main_key(name, session_id if any(session.key.is_main for session in live) else None)
