"""Presence: liveness of sessions, judged when read, and recorded by the next writer that finds a dead session.

Within one transaction or batch each holder is checked once, and keeps its first result. Otherwise a process that dies
in between could count as live when its inbox is chosen and as dead, with its session ended, before the mail is placed
there: the mail would be lost."""

from collections.abc import Collection, Sequence
from datetime import datetime
from typing import NamedTuple

from covey.core.directory.card import Agent
from covey.core.directory.routing import Recipient, stand_in
from covey.core.directory.session import Ancestor, Holder, Session, SessionKind, lease_holds
from covey.core.identity import THE_SPACE
from covey.core.ledger.delivery import (
    HAS_IT_ALREADY,
    SIBLING_HOLDS_IT,
    SIBLING_LEFT_IT,
    WAITING,
    DeliveryRecord,
    DeliveryState,
    Move,
)
from covey.core.ledger.event import Action
from covey.core.ledger.message import Kind
from covey.core.names import AgentName, InboxId, is_parked, parked_inbox
from covey.ports.directory import Liveness
from covey.services.act import Act, journal, place, shift
from covey.services.tasks.claims import release_tasks


class RemainingMail(NamedTuple):
    """The amount of unhandled mail that an ended session left, and its new place."""

    parked: int = 0
    """Messages that wait for the agent's next session."""
    passed_on: int = 0
    """Messages that a sibling session has now."""


def is_live(session: Session, liveness: Liveness, now: datetime) -> bool:
    """Tell whether a session's holder is alive: a lock, a process or a recent heartbeat, depending on its kind."""
    server, process = session.holder.server, session.holder.process
    if session.has_ended or (process is not None and not liveness.is_held(process)):
        return False
    if session.kind is SessionKind.CLIENT:
        return process is not None
    has_server = server is not None and liveness.is_held(server)
    if session.is_foreign:
        return lease_holds(session, now)
    if session.kind is SessionKind.LEASED:
        return lease_holds(session, now) and (has_server or server is None)
    return has_server or (process is not None and lease_holds(session, now))


async def live_sessions(act: Act, agent: AgentName, liveness: Liveness) -> Sequence[Session]:
    """Return the agent's live sessions, oldest first. Dead sessions are ended."""
    sessions = await act.tx.sessions.of_agent(agent)
    live = [session for session in sessions if is_live(session, liveness, act.now)]
    if len(live) != len(sessions):
        finding = act._replace(actor=THE_SPACE)  # the actor only found the session dead
        for session in sessions:
            if session not in live:
                await end_session(finding, session, why_dead(session), live)
    return live


def why_dead(session: Session) -> str:
    """Return the end reason for a session that is not live."""
    if session.is_foreign:
        return "it has sent nothing for a while"
    return "its heartbeat stopped" if session.kind is SessionKind.LEASED else "its process is gone"


async def end_session(act: Act, session: Session, reason: str, siblings: Sequence[Session]) -> RemainingMail:
    """End a session: its offers are returned, and its unhandled mail goes to a live main session of the agent. Tasks,
    and all mail if there is no such session, are parked. A copy of a message that a sibling has is settled."""
    parked = passed_on = 0
    await act.tx.sessions.put(session._replace(ended_at=act.now, end_reason=reason))
    await journal(
        act, Action.SESSION_ENDED, agent=session.agent, session=session.id, key=str(session.key), reason=reason
    )
    for offer in await act.tx.offers.live_of(session.id):
        await act.tx.offers.put(offer._replace(ended_at=act.now, end_reason=reason))
        await journal(act, Action.OFFER_ENDED, agent=session.agent, offer=offer.id, reason=reason)
    await release_tasks(act, session)
    if not session.key.is_main:
        from covey.services.children.run_moves import lose_run  # imported late because most sessions are not children

        await lose_run(act, session, reason)
    while leftover := await act.tx.inboxes.waiting(session.inbox, WAITING):
        for delivery in leftover:
            target = await give_up(act, delivery, session.agent, siblings)
            parked += target is not None and is_parked(target)
            passed_on += target is not None and not is_parked(target)
    return RemainingMail(parked, passed_on)


async def give_up(act: Act, delivery: DeliveryRecord, agent: AgentName, siblings: Sequence[Session]) -> InboxId | None:
    """Hand on one delivery of an ended session, and return its new inbox. If that inbox or a sibling has had the
    message already, settle the delivery and return None."""
    heir = stand_in(siblings)
    target = parked_inbox(agent) if heir is None or is_claimable(delivery) else heir.inbox
    if await _has_copy(act, delivery, {target, *(sibling.inbox for sibling in siblings)}):
        await shift(act, delivery, Move.SETTLE, SIBLING_HOLDS_IT if siblings else SIBLING_LEFT_IT)
        return None
    if delivery.state is DeliveryState.OFFERED:
        delivery = await shift(act, delivery, Move.RETURN, "its session ended")
    elif delivery.state is DeliveryState.IN_CONTEXT:
        delivery = await shift(act, delivery, Move.RELEASE, "its session ended")
    await place(act, delivery, target)
    return target


async def _has_copy(act: Act, delivery: DeliveryRecord, inboxes: Collection[InboxId]) -> bool:
    """Tell whether another copy of the message is in one of these inboxes, or was handled there."""
    copies = await act.tx.deliveries.of_message(delivery.message_id)
    return any(copy.inbox in inboxes and copy.id != delivery.id and copy.has_arrived for copy in copies)


async def adopt(act: Act, session: Session) -> int:
    """Move all mail that is parked with the agent to a joining session, in order. Return the number of messages. Tasks
    stay parked, because they are claimed one by one. A child adopts nothing: it has joined for its own task."""
    if not session.key.is_main:
        return 0
    adopted = 0
    after = 0
    while parked := await act.tx.inboxes.waiting(parked_inbox(session.agent), {DeliveryState.QUEUED}, after):
        for delivery in parked:
            after = delivery.seq
            if is_claimable(delivery):
                continue
            if await _has_copy(act, delivery, {session.inbox}):
                await shift(act, delivery, Move.SETTLE, HAS_IT_ALREADY)
                continue
            await place(act, delivery, session.inbox)
            adopted += 1
    return adopted


def is_claimable(delivery: DeliveryRecord) -> bool:
    """Tell whether a delivery waits to be claimed by one session, instead of being adopted by the first that joins."""
    return delivery.kind is Kind.TASK


class CachedRecipient(NamedTuple):
    """A resolved recipient, with the records it was resolved from."""

    agent: Agent
    sessions: Sequence[Session]
    recipient: Recipient


class SteadyLiveness:
    """`Liveness` that checks each holder once. It lives for one directory version, or one transaction."""

    def __init__(self, liveness: Liveness) -> None:
        self._liveness = liveness
        self._found: dict[Holder, bool] = {}
        self.recipients: dict[AgentName, CachedRecipient] = {}
        """Resolved recipients, by name."""

    def hold(self) -> Holder:
        return self._liveness.hold()

    def process(self, pid: int) -> Holder | None:
        return self._liveness.process(pid)

    def ancestors(self) -> Sequence[Ancestor]:
        return self._liveness.ancestors()

    def is_held(self, holder: Holder) -> bool:
        found = self._found.get(holder)
        if found is None:
            found = self._found[holder] = self._liveness.is_held(holder)
        return found

    def close(self) -> None:
        self._liveness.close()


class LivenessCache:
    """One `SteadyLiveness` for all operations at the same directory version. Commits are serial, so that one is
    enough."""

    def __init__(self, liveness: Liveness) -> None:
        self._liveness = liveness
        self._version: int | None = None
        self._steady = SteadyLiveness(liveness)

    def at(self, version: int) -> SteadyLiveness:
        if version != self._version:
            self._version = version
            self._steady = SteadyLiveness(self._liveness)
        return self._steady
