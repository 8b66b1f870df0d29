"""Sessions by id, key or label, and the mail that was sent to a session id before the session joined."""

from covey.core.directory.session import Session
from covey.core.errors import LabelAmbiguous, SessionUnknown
from covey.core.identity import THE_SPACE, SessionKey, main_key
from covey.core.ledger.delivery import WAITING, DeliveryRecord, DeliveryState, Move, state_at
from covey.core.ledger.event import Action
from covey.core.ledger.ticket import new_ticket
from covey.core.names import Label, SessionId, ticket_id
from covey.ports.clock import Clock
from covey.ports.directory import Liveness
from covey.ports.store import Operation, Transaction
from covey.services.act import Act, journal, open_ticket, shift
from covey.services.directory.presence import is_live
from covey.services.records import known_agent


class SessionLookup:
    def __init__(self, clock: Clock, liveness: Liveness) -> None:
        self._clock = clock
        self._liveness = liveness

    def by_id(self, session_id: SessionId) -> Operation[Session]:
        """Find a session, ended or not. Raise SessionUnknown if there is none."""

        async def operation(tx: Transaction) -> Session:
            session = await tx.sessions.get(session_id)
            if session is None:
                raise SessionUnknown(session_id)
            return session

        return operation

    def by_label(self, label: Label) -> Operation[Session]:
        """Find the one live session with a label. Raise SessionUnknown for none, LabelAmbiguous for several."""

        async def operation(tx: Transaction) -> Session:
            now = self._clock.now()
            live = [s for s in await tx.sessions.with_label(label) if is_live(s, self._liveness, now)]
            if not live:
                raise SessionUnknown(label)
            if len(live) > 1:
                raise LabelAmbiguous(label, [str(session.key) for session in live])
            return live[0]

        return operation

    def by_key(self, key: SessionKey) -> Operation[Session]:
        """Find the live session with a key; the bare main key means the oldest main session. Raise SessionUnknown for
        none, RecipientUnknown for an unknown agent."""

        async def operation(tx: Transaction) -> Session:
            now = self._clock.now()
            await known_agent(tx, key.agent)
            live = [s for s in await tx.sessions.of_agent(key.agent) if is_live(s, self._liveness, now)]
            is_bare = key == main_key(key.agent)
            found = [session for session in live if session.key == key or (is_bare and session.key.is_main)]
            if not found:
                raise SessionUnknown(str(key))
            return found[0]

        return operation


async def take_up(act: Act, session: Session) -> None:
    """Assign the mail that waits under the session's id to its agent."""
    after = 0
    while early := await act.tx.inboxes.waiting(session.inbox, WAITING, after):
        for delivery in early:
            after = delivery.seq
            await _take(act, delivery, session)


async def _take(act: Act, delivery: DeliveryRecord, session: Session) -> None:
    if state_at(delivery, act.now) is DeliveryState.EXPIRED:
        await shift(act._replace(actor=THE_SPACE), delivery, Move.EXPIRE, "its time had passed")
        return
    message = await act.tx.messages.get(delivery.message_id)
    number = await act.tx.agents.next_number(session.agent)
    taken = delivery._replace(
        agent=session.agent, number=number, expires_at=message.expires_at if message else None, updated_at=act.now
    )
    await act.tx.deliveries.put(taken)
    await journal(
        act,
        Action.DELIVERY_PLACED,
        message_id=delivery.message_id,
        agent=session.agent,
        scope=delivery.scope,
        delivery=delivery.id,
        inbox=session.inbox,
    )
    if message is None or not message.expects_reply:
        return
    # No agent could owe the answer before: the session's agent is known only now.
    if await act.tx.tickets.get(ticket_id(message.id, session.agent)) is None:
        await open_ticket(act, new_ticket(message, session.agent, [taken.state], act.now))
