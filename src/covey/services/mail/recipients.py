"""Recipients: the agents that addresses stand for, with their live sessions."""

from collections.abc import Sequence
from datetime import datetime
from enum import StrEnum
from typing import NamedTuple

from covey.core.directory.card import Agent, Card
from covey.core.directory.routing import Recipient, WhenOffline, others_of_own_agent, stand_in
from covey.core.directory.session import Session
from covey.core.errors import RecipientUnknown, SessionUnknown
from covey.core.identity import Address, AddressKind, Identity, SessionKey, parse_session_key
from covey.core.ledger.event import Action
from covey.core.names import OPERATOR, AgentName, SessionId, is_reserved
from covey.core.reporting import closest
from covey.ports.directory import Liveness
from covey.services.act import Act, journal
from covey.services.directory.presence import CachedRecipient, SteadyLiveness, is_live, live_sessions
from covey.services.directory.settings import CLOSED_ROSTER, is_on


class WhenUnknown(StrEnum):
    """The handling of mail for a name that no agent has."""

    REFUSE = "refuse"
    REGISTER = "register"
    """Register the name and park its mail, unless the space has a closed roster."""


class SendPolicy(NamedTuple):
    """The rules by which a toolkit sends."""

    when_offline: WhenOffline = WhenOffline.PARK
    when_unknown: WhenUnknown = WhenUnknown.REFUSE
    may_await_session: bool = False
    """True if mail for an unregistered session id waits for that session for a while: the peers' policy."""
    closes: bool = False
    """True if a reply closes the ticket in the same commit, instead of leaving it to be archived."""
    waits: float | None = None
    """The seconds for which the sender waits for the result and does nothing else. None leaves that to the waiter; 0
    means that the sender answers others meanwhile."""
    takes: float = 0.0
    """The seconds for which the sender waits for the answer, busy or not. Meanwhile the answer is hidden from the
    readers of its inbox."""
    takes_questions: bool = False
    """True if a question back is hidden as well."""
    spawns: bool = False
    """True for the first prompt of a child, which counts as a spawn in its causal tree."""
    supersedes: bool = False
    """True if the message supersedes earlier unread ones of its scope and subject even if subjects are categories."""
    finishes: bool = False
    """True if the message finishes the sender's current work, which is allowed during a pause."""


class Unregistered(NamedTuple):
    """A session id that is not registered yet, or of a foreign program that has been silent for a while."""

    session_id: SessionId


async def recipients(
    act: Act, to: Sequence[Address], sender: Identity, policy: SendPolicy, liveness: SteadyLiveness
) -> Sequence[Recipient | Unregistered]:
    """Return the recipients that the addresses stand for, each agent once. Raise RecipientUnknown or SessionUnknown for
    an unknown one."""
    if len(to) == 1:
        return await _resolve(act, to[0], sender, policy, liveness)
    found: dict[AgentName | SessionId, Recipient | Unregistered] = {}
    for address in to:
        for recipient in await _resolve(act, address, sender, policy, liveness):
            if isinstance(recipient, Unregistered):
                found[recipient.session_id] = recipient
            else:
                found[recipient.agent] = _merged(found.get(recipient.agent), recipient)
    return list(found.values())


def _merged(known: Recipient | Unregistered | None, more: Recipient) -> Recipient:
    if not isinstance(known, Recipient):
        return more
    sessions = {session.id: session for session in (*known.sessions, *more.sessions)}
    return known._replace(sessions=tuple(sorted(sessions.values(), key=_age)))


def _age(session: Session) -> tuple[datetime, SessionId]:
    return session.joined_at, session.id


async def _resolve(
    act: Act, address: Address, sender: Identity, policy: SendPolicy, liveness: SteadyLiveness
) -> Sequence[Recipient | Unregistered]:
    if address.kind is AddressKind.AGENT:
        return (await _by_name(act, AgentName(address.value), policy, liveness),)
    if address.kind is AddressKind.EVERYONE:
        return await _everyone(act, sender, liveness)
    if address.kind is AddressKind.KEY:
        return (await _by_key(act, parse_session_key(address.value), policy, liveness),)
    return (await _by_id(act, SessionId(address.value), policy, liveness),)


async def _by_name(act: Act, name: AgentName, policy: SendPolicy, liveness: SteadyLiveness) -> Recipient:
    agent = await act.tx.agents.get(name) or await _newcomer(act, name, policy)
    sessions = await act.tx.sessions.of_agent(name)
    known = liveness.recipients.get(name)
    # Compared by identity: a store that reads new objects each time only loses the cache.
    if known is not None and known.agent is agent and known.sessions is sessions:
        return known.recipient
    recipient = Recipient(name, agent.card, _meant(await live_sessions(act, name, liveness)))
    liveness.recipients[name] = CachedRecipient(agent, sessions, recipient)
    return recipient


def _meant(live: Sequence[Session]) -> Sequence[Session]:
    """Return the sessions that an agent's name stands for: its main sessions, or its children if there are no
    others."""
    return [session for session in live if session.key.is_main] or live


async def _newcomer(act: Act, name: AgentName, policy: SendPolicy) -> Agent:
    """Register an unknown name if the policy allows it. Raise RecipientUnknown otherwise. The operator can always be
    written to."""
    if name == OPERATOR:
        return await introduce(act, name)
    is_closed = await is_on(act.tx, CLOSED_ROSTER)
    if policy.when_unknown is WhenUnknown.REFUSE or is_closed or is_reserved(name):
        raise RecipientUnknown(name, closest(name, {OPERATOR, *[known.name for known in await act.tx.agents.all()]}))
    return await introduce(act, name)


async def introduce(act: Act, name: AgentName) -> Agent:
    """Register an agent by name alone."""
    agent = Agent(name, Card(), act.now)
    await act.tx.agents.put(agent)
    await journal(act, Action.AGENT_REGISTERED, agent=name, description="")
    return agent


async def _everyone(act: Act, sender: Identity, liveness: Liveness) -> Sequence[Recipient]:
    """Return all live participants but the sender. Children of the sender's own agent are participants of their own."""
    names = dict.fromkeys(s.agent for s in await act.tx.sessions.current())
    found: list[Recipient] = []
    for name in names:
        agent = await act.tx.agents.get(name)
        live = await live_sessions(act, name, liveness)
        if name == sender.agent:
            live = others_of_own_agent(live, sender.session)
        if agent is not None and live:
            found.append(Recipient(name, agent.card, live, may_park=False))
    return found


async def _by_key(act: Act, key: SessionKey, policy: SendPolicy, liveness: Liveness) -> Recipient:
    """Resolve a session key. The bare main key stands for the oldest live main session, any other key for exactly that
    session."""
    agent = await act.tx.agents.get(key.agent) or await _newcomer(act, key.agent, policy)
    live = await live_sessions(act, key.agent, liveness)
    if key.is_main and key.main is None:
        matching = [session for session in live if session.key.is_main][:1]
    else:
        matching = [session for session in live if session.key == key]
    return Recipient(agent.name, agent.card, matching or _heir(live, policy))


async def _by_id(act: Act, session_id: SessionId, policy: SendPolicy, liveness: Liveness) -> Recipient | Unregistered:
    session = await act.tx.sessions.get(session_id)
    is_gone = session is None or (session.is_on_wire and not is_live(session, liveness, act.now))
    if is_gone and policy.may_await_session:
        return Unregistered(session_id)
    if session is None:
        raise SessionUnknown(session_id)
    agent = await act.tx.agents.get(session.agent) or await _newcomer(act, session.agent, policy)
    live = await live_sessions(act, session.agent, liveness)
    return Recipient(agent.name, agent.card, [s for s in live if s.id == session_id] or _heir(live, policy))


def _heir(live: Sequence[Session], policy: SendPolicy) -> Sequence[Session]:
    """Return the session that gets mail for an ended session: the main session that inherited its mail. If there is
    none, the mail is parked."""
    heir = stand_in(live) if policy.when_offline is WhenOffline.PARK else None
    return () if heir is None else (heir,)
