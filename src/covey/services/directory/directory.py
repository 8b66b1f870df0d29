"""The directory: agents with their cards, sessions that join and leave, and presence (idle, busy, offline)."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Final, NamedTuple

from covey.core.authority import check_as, check_card_change, check_free, check_label
from covey.core.directory.card import Agent, Capacity, Card, Presence, check_card
from covey.core.directory.routing import WHOLE, Pause
from covey.core.directory.session import FOREIGN, Activity, Holder, Session, SessionKind
from covey.core.errors import BeyondToken, IdentityRefused, Invalid, RecipientUnknown
from covey.core.identity import Grade, Identity, SessionKey, hash_secret, main_key
from covey.core.ledger.event import Action
from covey.core.limits import PRESENCE_LEASE
from covey.core.names import AgentName, Label, SessionId, automatic_name
from covey.ports.clock import Clock, Ids
from covey.ports.directory import Liveness
from covey.ports.store import Store, Transaction
from covey.services.act import Act, journal
from covey.services.attention.leases import renew
from covey.services.directory.presence import RemainingMail, adopt, end_session, is_live, live_sessions
from covey.services.directory.sessions import SessionLookup, take_up
from covey.services.directory.settings import pauses_of
from covey.services.records import known_agent, own_session

NEXT_AUTOMATIC_NAME = "next-automatic-name"

FRESH: Final = 0.25
"""The fraction of a session's lease for which a sign of life is fresh enough."""


class JoinRequest(NamedTuple):
    """The request of a session to join."""

    name: AgentName | None = None
    """None for an automatic name: agentA, agentB…"""
    card: Card | None = None
    """None leaves the card unchanged."""
    kind: SessionKind = SessionKind.ATTACHED
    session_id: SessionId | None = None
    label: Label | None = None
    parent: SessionKey | None = None
    """The key of the session that spawned this one."""
    client_pid: int | None = None
    capacity: Capacity | None = None
    """None takes the card's capacity."""
    lease: timedelta = PRESENCE_LEASE


class SessionKeys(NamedTuple):
    """The id, the secret and the holder of a new session. The holder keeps it alive."""

    session_id: SessionId
    secret: str
    holder: Holder


class Joined(NamedTuple):
    """A new session, the secret that proves its identity, and the number of parked messages it adopted."""

    session: Session
    secret: str
    adopted: int
    grade: Grade = Grade.SESSION
    """TOKEN if the session joined by its agent's token."""

    @property
    def identity(self) -> Identity:
        return Identity(self.session.agent, self.session.id, self.grade)


class AgentView(NamedTuple):
    """An agent as other agents see it now."""

    name: AgentName
    card: Card
    presence: Presence
    status: str | None
    sessions: tuple[Session, ...]
    registered_at: datetime
    last_seen_at: datetime | None
    current_tasks: tuple[str, ...] = ()
    pause: Pause | None = None
    """The pause of the agent or of the whole space, if any. A paused agent neither takes nor sends."""


class Directory:
    """Agents and sessions. With a `holder`, sessions join by its token: they belong to its agent and have its grade."""

    def __init__(
        self, store: Store, clock: Clock, ids: Ids, liveness: Liveness, holder: Identity | None = None
    ) -> None:
        self._store = store
        self._clock = clock
        self._ids = ids
        self._liveness = liveness
        self._holder = holder
        self.lookup = SessionLookup(clock, liveness)

    async def register(self, name: AgentName, card: Card, actor: Identity) -> Agent:
        """Register an agent, or change its card. Without a session the agent is offline, and still reachable."""
        check_free(name)
        check_as(actor, name, "register")

        async def operation(tx: Transaction) -> Agent:
            return await enrol(Act(tx, actor, self._clock.now()), name, card)

        return await self._store.commit(operation)

    async def join(self, wish: JoinRequest) -> Joined:
        """Start a session. The session adopts the mail that is parked with its agent."""
        minted = self.mint(wish, self._process(wish))

        async def operation(tx: Transaction) -> Joined:
            return await self.admit(tx, wish, minted)

        return await self._store.commit(operation, is_long=True)

    def mint(self, wish: JoinRequest, holder: Holder) -> SessionKeys:
        """Return the id and secret of a new session. They are made before the operation that begins it, because that
        may be retried."""
        return SessionKeys(wish.session_id or self._ids.session_id(), self._ids.secret(), holder)

    async def admit(self, tx: Transaction, wish: JoinRequest, minted: SessionKeys) -> Joined:
        """Start a session within a transaction."""
        now = self._clock.now()
        grade = Grade.SESSION if self._holder is None else Grade.TOKEN
        name = wish.name or (self._holder.agent if self._holder else await _next_automatic_name(tx))
        check_free(name)
        if wish.label is not None:
            check_label(wish.label)
        if self._holder is not None:
            check_as(self._holder, name, "join as")
            await check_label_is_free(tx, wish.label, self._holder)
        act = Act(tx, Identity(name, minted.session_id, grade), now)
        agent = await tx.agents.get(name)
        if agent is not None and agent.card.channel:
            raise IdentityRefused(f"{name} is a channel to people: no agent can join under this name")
        await _take_over(act, name)
        if agent is None or agent.card.wire_name is not None or (wish.card is not None and wish.card != agent.card):
            agent = await enrol(act, name, wish.card or Card())
        live = await live_sessions(act, name, self._liveness)
        if await tx.sessions.get(minted.session_id) is not None:
            raise IdentityRefused(f"the session id {minted.session_id} has been used before")
        session = Session(
            id=minted.session_id,
            key=new_key(name, minted.session_id, wish.parent, live),
            agent=name,
            kind=wish.kind,
            holder=minted.holder,
            secret_hash=hash_secret(minted.secret),
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
        return Joined(session, minted.secret, await adopt(act, session), grade)

    async def leave(
        self, actor: Identity, reason: str = "left", session_id: SessionId | None = None
    ) -> RemainingMail | None:
        """End the actor's session, or another session of its agent.

        Return the mail that the session left; None if the session had ended before.
        """
        leaving = session_id or actor.session

        async def operation(tx: Transaction) -> RemainingMail | None:
            act = Act(tx, actor, self._clock.now())
            session = await tx.sessions.get(leaving) if leaving else None
            if session is None or session.has_ended:
                return None
            if session.agent != actor.agent and not actor.is_operator:
                raise IdentityRefused(f"session {session.id} is {session.agent}'s, not {actor.agent}'s")
            others = [s for s in await tx.sessions.of_agent(session.agent) if s.id != session.id]
            siblings = [other for other in others if is_live(other, self._liveness, act.now)]
            return await end_session(act, session, reason, siblings)

        return await self._store.commit(operation, is_long=True)

    async def set_activity(self, actor: Identity, activity: Activity) -> None:
        """Set the actor's session to idle or busy."""

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
        """Set the actor's status text. A main session sets it for its agent, a child for itself."""

        async def operation(tx: Transaction) -> None:
            act = Act(tx, actor, self._clock.now())
            agent = await tx.agents.get(actor.agent)
            if agent is None:
                raise RecipientUnknown(actor.agent)
            child = await _child(tx, actor)
            if child is None:
                await tx.agents.put(agent._replace(status=status))
                await journal(act, Action.AGENT_STATUS, agent=agent.name, status=status)
            else:
                await tx.sessions.put(child._replace(status=status))
                await journal(act, Action.AGENT_STATUS, agent=agent.name, status=status, session=child.id)

        await self._store.commit(operation)

    async def status_of(self, actor: Identity) -> str | None:
        """Return the status text that the actor has set."""

        async def operation(tx: Transaction) -> str | None:
            child = await _child(tx, actor)
            return (await known_agent(tx, actor.agent)).status if child is None else child.status

        return await self._store.read(operation)

    async def heartbeat(self, actor: Identity) -> None:
        """Renew the leases of the session and of its offers."""

        async def operation(tx: Transaction) -> None:
            session = await own_session(tx, actor)
            now = self._clock.now()
            await tx.sessions.put(session._replace(seen_at=now))
            await renew(Act(tx, actor, now), session)

        await self._store.commit(operation)

    async def touch(self, actor: Identity) -> None:
        """Send a heartbeat if the last sign of life is not fresh, for programs that live for one call only."""

        async def operation(tx: Transaction) -> bool:
            session = await own_session(tx, actor)
            return self._clock.now() - session.seen_at >= session.lease * FRESH

        if await self._store.read(operation):
            await self.heartbeat(actor)

    async def agents(self) -> Sequence[AgentView]:
        """Return every agent as it is now, by name. Nothing is changed."""

        async def operation(tx: Transaction) -> Sequence[AgentView]:
            return await agents_now(tx, self._liveness, self._clock.now())

        return await self._store.read(operation, is_long=True)

    async def names(self) -> Sequence[AgentName]:
        """Return the names of all agents, without checking which are live."""

        async def operation(tx: Transaction) -> Sequence[AgentName]:
            return [agent.name for agent in await tx.agents.all()]

        return await self._store.read(operation)

    async def agent(self, name: AgentName) -> AgentView:
        """Return one agent as it is now."""

        async def operation(tx: Transaction) -> AgentView:
            agent = await known_agent(tx, name)
            now = self._clock.now()
            live = [s for s in await tx.sessions.of_agent(name) if is_live(s, self._liveness, now)]
            view = view_of(agent, live, [task.id for task in await tx.tasks.held(name) if task.is_active])
            return with_pause(view, await pauses_of(tx))

        return await self._store.read(operation)

    async def session(self, session_id: SessionId) -> Session:
        """Return a session, ended or not."""
        return await self._store.read(self.lookup.by_id(session_id))

    async def labelled(self, label: Label) -> Session:
        """Return the one live session with a label. Raise SessionUnknown for none, LabelAmbiguous for several."""
        return await self._store.read(self.lookup.by_label(label))

    async def keyed(self, key: SessionKey) -> Session:
        """Return the live session with a key. Raise SessionUnknown for none."""
        return await self._store.read(self.lookup.by_key(key))

    def _process(self, wish: JoinRequest) -> Holder:
        if wish.kind in FOREIGN:
            raise Invalid("kind", wish.kind, "only foreign programs have sessions of this kind")
        if wish.kind is SessionKind.ATTACHED:
            return self._liveness.hold()
        if wish.kind is SessionKind.LEASED:
            return Holder()
        holder = self._liveness.process(wish.client_pid) if wish.client_pid is not None else None
        if holder is None:
            raise IdentityRefused(f"there is no client process {wish.client_pid}")
        return holder


async def _child(tx: Transaction, actor: Identity) -> Session | None:
    """Return the session that the actor acts from, if it is a child."""
    session = await tx.sessions.get(actor.session) if actor.session else None
    return None if session is None or session.key.is_main else session


async def agents_now(tx: Transaction, liveness: Liveness, now: datetime) -> Sequence[AgentView]:
    """Return every agent as it is now, by name. A foreign program without a live session is left out."""
    sessions: dict[AgentName, list[Session]] = {}
    for session in await tx.sessions.current():
        if is_live(session, liveness, now):
            sessions.setdefault(session.agent, []).append(session)
    tasks: dict[AgentName, list[str]] = {}
    for task in await tx.tasks.all_held():
        if task.is_active:
            tasks.setdefault(task.agent, []).append(task.id)
    known, paused = await tx.agents.all(), await pauses_of(tx)
    agents = [agent for agent in known if agent.card.wire_name is None or agent.name in sessions]
    views = [view_of(agent, sessions.get(agent.name, ()), tasks.get(agent.name, ())) for agent in agents]
    return [with_pause(view, paused) for view in views] if paused else views


def view_of(agent: Agent, sessions: Sequence[Session], tasks: Sequence[str] = ()) -> AgentView:
    """Return the view of an agent with these live sessions and tasks."""
    busy = bool(tasks) or any(session.activity is Activity.BUSY for session in sessions)
    return AgentView(
        name=agent.name,
        card=agent.card,
        presence=Presence.OFFLINE if not sessions else Presence.BUSY if busy else Presence.IDLE,
        status=_status(agent, sessions),
        sessions=tuple(sessions),
        registered_at=agent.registered_at,
        last_seen_at=max((session.seen_at for session in sessions), default=None),
        current_tasks=tuple(tasks),
    )


def _status(agent: Agent, sessions: Sequence[Session]) -> str | None:
    """Return the status of an agent. If its only session is a child with a status, return the child's."""
    is_child = len(sessions) == 1 and not sessions[0].key.is_main
    return (sessions[0].status if is_child else None) or agent.status


def with_pause(view: AgentView, paused: Mapping[AgentName, Pause]) -> AgentView:
    """Return an agent's view with its own pause, or that of the whole space. Channels are never paused."""
    pause = None if view.card.channel else paused.get(view.name) or paused.get(WHOLE)
    return view._replace(pause=pause)


async def enrol(act: Act, name: AgentName, card: Card) -> Agent:
    """Register an agent, or change its card."""
    card = check_card(card)._replace(wire_name=None)  # a card that can't be read again would lock every program out
    known = await act.tx.agents.get(name)
    if known is not None and known.card.wire_name is not None:
        await _take_over(act, name)
        known = known._replace(card=Card())
    check_card_change(act.actor, known.card if known else Card(), card)
    agent = known._replace(card=card) if known else Agent(name, card, act.now)
    await act.tx.agents.put(agent)
    await journal(act, Action.AGENT_REGISTERED, agent=name, description=card.description)
    return agent


async def _take_over(act: Act, name: AgentName) -> None:
    """End the sessions of foreign programs under the name of an agent of this space. The agent gets their mail."""
    for session in await act.tx.sessions.of_agent(name):
        if session.is_foreign:
            await end_session(act, session, "an agent of this space has taken its name", ())


async def check_label_is_free(tx: Transaction, label: Label | None, holder: Identity) -> None:
    """Raise BeyondToken if the holder of an agent's token would take the label of another agent's session, or the name
    of another agent, in any letter case. Other callers may take such a label: a label of two sessions is ambiguous, and
    using it raises an error."""
    if label is None:
        return
    for session in await tx.sessions.current():
        if session.label is not None and _is_alike(session.label, label) and session.agent != holder.agent:
            raise BeyondToken(holder.agent, f"take the label {label}, which a session of {session.agent} has")
    for agent in await tx.agents.all():
        if _is_alike(agent.name, label) and agent.name != holder.agent:
            raise BeyondToken(holder.agent, f"take the label {label}, which is the name of another agent")


def _is_alike(name: str, other: str) -> bool:
    return name.casefold() == other.casefold()


async def _next_automatic_name(tx: Transaction) -> AgentName:
    index = int(await tx.settings.get(NEXT_AUTOMATIC_NAME) or "0")
    while await tx.agents.get(automatic_name(index)) is not None:
        index += 1
    await tx.settings.put(NEXT_AUTOMATIC_NAME, str(index + 1))
    return automatic_name(index)


def new_key(name: AgentName, session_id: SessionId, parent: SessionKey | None, live: Sequence[Session]) -> SessionKey:
    """Return the key of a new session, given the agent's live sessions."""
    if parent is not None:
        child = parent.child(session_id)
        return child if parent.agent == name else child._replace(agent=name)
    return main_key(name, session_id if any(session.key.is_main for session in live) else None)
