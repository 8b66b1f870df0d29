"""Who is live: judged when read, written down when someone who writes comes across it."""

from collections.abc import Sequence
from datetime import datetime

from covey.core.delivery import WAITING, Delivery, DeliveryState, Move
from covey.core.event import Action
from covey.core.ids import parked_inbox
from covey.core.message import Kind
from covey.core.names import AgentName
from covey.core.session import Session, SessionKind, lease_holds
from covey.ports.presence import Liveness
from covey.services.act import Act, journal, place, shift


def is_live(session: Session, liveness: Liveness, now: datetime) -> bool:
    """Tell whether a session's process is there (attached, client) or its heartbeat is recent (leased)."""
    if session.has_ended:
        return False
    if session.kind is SessionKind.LEASED:
        return lease_holds(session, now)
    return liveness.is_held(session.holder)


async def live_sessions(act: Act, agent: AgentName, liveness: Liveness) -> Sequence[Session]:
    """Return the agent's live sessions, oldest first; those found dead are ended."""
    sessions = await act.tx.sessions.of_agent(agent)
    live = [session for session in sessions if is_live(session, liveness, act.now)]
    if len(live) != len(sessions):
        for session in sessions:
            if session not in live:
                await end_session(act, session, why_dead(session), live)
    return live


def why_dead(session: Session) -> str:
    """Return the reason for which a session that is not live has ended."""
    return "its heartbeat stopped" if session.kind is SessionKind.LEASED else "its process is gone"


async def end_session(act: Act, session: Session, reason: str, siblings: Sequence[Session]) -> None:
    """End a session: its offers return, and what it leaves unhandled is parked unless a sibling holds a copy."""
    await act.tx.sessions.put(session._replace(ended_at=act.now, end_reason=reason))
    await journal(
        act, Action.SESSION_ENDED, agent=session.agent, session=session.id, key=str(session.key), reason=reason
    )
    for offer in await act.tx.offers.live_of(session.id):
        await act.tx.offers.put(offer._replace(ended_at=act.now, end_reason=reason))
        await journal(act, Action.OFFER_ENDED, agent=session.agent, offer=offer.id, reason=reason)
    while leftover := await act.tx.inboxes.waiting(session.inbox, WAITING):
        for delivery in leftover:
            await _give_up(act, delivery, session, siblings)


async def _give_up(act: Act, delivery: Delivery, session: Session, siblings: Sequence[Session]) -> None:
    if await _sibling_holds(act, delivery, siblings):
        await shift(act, delivery, Move.SETTLE, "a sibling holds it")
        return
    if delivery.state is DeliveryState.OFFERED:
        delivery = await shift(act, delivery, Move.RETURN, "its session ended")
    elif delivery.state is DeliveryState.IN_CONTEXT:
        delivery = await shift(act, delivery, Move.RELEASE, "its session ended")
    parked = await place(act, delivery, parked_inbox(session.agent))
    if siblings:
        await place(act, parked, siblings[0].inbox)


async def _sibling_holds(act: Act, delivery: Delivery, siblings: Sequence[Session]) -> bool:
    inboxes = {sibling.inbox for sibling in siblings}
    copies = await act.tx.deliveries.of_message(delivery.message_id) if inboxes else ()
    return any(copy.inbox in inboxes and copy.id != delivery.id and not copy.is_terminal for copy in copies)


async def adopt(act: Act, session: Session) -> int:
    """Give a session that joins all mail that is parked with its agent, in its order; return how much. Tasks stay: they
    are claimed one by one."""
    adopted = 0
    after = 0
    while parked := await act.tx.inboxes.waiting(parked_inbox(session.agent), {DeliveryState.QUEUED}, after):
        for delivery in parked:
            after = delivery.seq
            if not is_claimable(delivery):
                await place(act, delivery, session.inbox)
                adopted += 1
    return adopted


def is_claimable(delivery: Delivery) -> bool:
    """Tell whether a delivery waits for one session to claim it instead of being given to the first that joins."""
    return delivery.kind is Kind.TASK
