"""Filing: a message with its deliveries and tickets becomes part of the ledger."""

from collections.abc import Sequence

from covey.core.ids import JOURNAL_TOPIC, inbox_topic
from covey.core.json import JsonObject, escape
from covey.core.ledger.delivery import Delivery, DeliveryState
from covey.core.ledger.event import Action, Event
from covey.core.ledger.message import Kind, Message
from covey.core.ledger.receipt import Receipt
from covey.core.ledger.ticket import Ticket
from covey.services.act import Act


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
    tx, actor, now = act
    await tx.messages.add(message, document, is_swept=is_swept)
    placed: list[Delivery] = []
    for delivery in deliveries:
        placed.append(await tx.deliveries.place(delivery))
        if delivery.state is DeliveryState.QUEUED:
            tx.ring(inbox_topic(delivery.inbox))
    for ticket in tickets:
        await tx.tickets.put(ticket)
    agent = placed[0].agent if len(placed) == 1 else None
    details = sent_details(message.kind, placed, tickets)
    event = Event(Action.MESSAGE_SENT, actor, now, message.id, agent, message.scope, details)
    await tx.journal.append(event, sent_text(message.kind, placed, tickets))
    tx.ring(JOURNAL_TOPIC)
    return Receipt(message.id, tuple(placed))


def sent_details(kind: Kind, placed: Sequence[Delivery], tickets: Sequence[Ticket]) -> JsonObject:
    """Return the journal's details of an accepted message."""
    copies = [
        {"id": d.id, "inbox": d.inbox, "state": d.state, "reason": d.reason}
        if d.reason is not None
        else {"id": d.id, "inbox": d.inbox, "state": d.state}
        for d in placed
    ]
    return {"kind": kind, "deliveries": copies, "tickets": [ticket.id for ticket in tickets]}


def sent_text(kind: Kind, placed: Sequence[Delivery], tickets: Sequence[Ticket]) -> str:
    """Return the details of `sent_details` as JSON. Concatenation takes a third of an encoder's time, and only reasons
    have to be escaped."""
    copies = ",".join(
        [
            f'{{"id":"{d.id}","inbox":"{d.inbox}","state":"{d.state!s}"}}'
            if d.reason is None
            else f'{{"id":"{d.id}","inbox":"{d.inbox}","state":"{d.state!s}","reason":{escape(d.reason)}}}'
            for d in placed
        ]
    )
    owed = ",".join([f'"{ticket.id}"' for ticket in tickets]) if tickets else ""
    return f'{{"kind":"{kind!s}","deliveries":[{copies}],"tickets":[{owed}]}}'
