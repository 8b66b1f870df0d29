"""Early mail: messages to a session id that was not registered yet. The session that joins with that id adopts them."""

from covey.core.directory.session import Session
from covey.core.identity import THE_SPACE
from covey.core.ids import ticket_id
from covey.core.ledger.delivery import WAITING, Delivery, DeliveryState, Move, state_at
from covey.core.ledger.event import Action
from covey.core.ledger.ticket import new_ticket
from covey.services.act import Act, journal, open_ticket, shift


async def take_up(act: Act, session: Session) -> None:
    """Assign the mail that waits under the session's id to its agent."""
    after = 0
    while early := await act.tx.inboxes.waiting(session.inbox, WAITING, after):
        for delivery in early:
            after = delivery.seq
            await _take(act, delivery, session)


async def _take(act: Act, delivery: Delivery, session: Session) -> None:
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
