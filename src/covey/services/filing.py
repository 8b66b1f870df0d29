"""Filing: a message with its deliveries and tickets becomes part of the ledger."""

from collections.abc import Sequence

from covey.core.delivery import Delivery, DeliveryState
from covey.core.event import Action
from covey.core.ids import inbox_topic
from covey.core.message import Message
from covey.core.receipt import Receipt
from covey.core.ticket import Ticket
from covey.services.act import Act, journal


async def file(
    act: Act,
    message: Message,
    document: str,
    deliveries: Sequence[Delivery],
    tickets: Sequence[Ticket],
    *,
    is_swept: bool = False,
) -> Receipt:
    """Write the message, its deliveries and its tickets, journal them as one event, and ring the inboxes."""
    tx = act.tx
    await tx.messages.add(message, document, is_swept=is_swept)
    placed: list[Delivery] = []
    for delivery in deliveries:
        placed.append(await tx.deliveries.place(delivery))
        if delivery.state is DeliveryState.QUEUED:
            tx.ring(inbox_topic(delivery.inbox))
    for ticket in tickets:
        await tx.tickets.put(ticket)
    await journal(
        act,
        Action.MESSAGE_SENT,
        message_id=message.id,
        agent=placed[0].agent if len(placed) == 1 else None,
        scope=message.scope,
        kind=message.kind,
        deliveries=[
            {"id": d.id, "inbox": d.inbox, "state": d.state, "reason": d.reason}
            if d.reason is not None
            else {"id": d.id, "inbox": d.inbox, "state": d.state}
            for d in placed
        ],
        tickets=[ticket.id for ticket in tickets],
    )
    return Receipt(message.id, tuple(placed))
