"""Filing: a message with its deliveries and tickets becomes part of the ledger; so does an update, which tells an agent
of a change to another message. This module counts nothing."""

from collections.abc import Sequence
from typing import NamedTuple

from covey.core.directory.routing import stand_in
from covey.core.identity import Address, AddressKind, Identity
from covey.core.json import JsonObject, escape
from covey.core.ledger.delivery import DeliveryRecord, DeliveryState
from covey.core.ledger.event import Action, Event
from covey.core.ledger.message import Kind, Message, Part, TaskRef
from covey.core.ledger.outcome import ReceiptRecord
from covey.core.ledger.ticket import Ticket
from covey.core.ledger.wire import encode
from covey.core.names import JOURNAL_TOPIC, AgentName, SessionId, delivery_id, inbox_topic, parked_inbox
from covey.ports.clock import Ids
from covey.ports.directory import Liveness
from covey.services.act import Act
from covey.services.directory.presence import live_sessions


async def file(
    act: Act,
    message: Message,
    document: str,
    deliveries: Sequence[DeliveryRecord],
    tickets: Sequence[Ticket],
    *,
    is_swept: bool = False,
) -> ReceiptRecord:
    """Write the message, its deliveries and its tickets, journal them as one event, and ring the inboxes."""
    tx, actor, now = act
    await tx.messages.add(message, document, is_swept=is_swept)
    placed: list[DeliveryRecord] = []
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
    return ReceiptRecord(message.id, tuple(placed))


def sent_details(kind: Kind, placed: Sequence[DeliveryRecord], tickets: Sequence[Ticket]) -> JsonObject:
    """Return the journal's details of an accepted message."""
    copies = [
        {"id": d.id, "inbox": d.inbox, "state": d.state, "reason": d.reason}
        if d.reason is not None
        else {"id": d.id, "inbox": d.inbox, "state": d.state}
        for d in placed
    ]
    return {"kind": kind, "deliveries": copies, "tickets": [ticket.id for ticket in tickets]}


def sent_text(kind: Kind, placed: Sequence[DeliveryRecord], tickets: Sequence[Ticket]) -> str:
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


class NoticePorts(NamedTuple):
    """The ports that a notice needs."""

    ids: Ids
    liveness: Liveness


class UpdateDraft(NamedTuple):
    """The content of an update and its reader: the session, if it is live, else another session of the agent."""

    agent: AgentName
    session: SessionId | None
    parts: tuple[Part, ...]
    task: TaskRef | None = None


async def file_update(
    act: Act, about: Message, told: UpdateDraft, sender: Identity, ids: Ids, liveness: Liveness
) -> tuple[Message, DeliveryRecord]:
    """File an update about a message. Return the update and its delivery. An update passes every rule and spends no
    hops. An update about a task has no subject: it never takes the place of an update about another task."""
    live = await live_sessions(act, told.agent, liveness)
    reader = next((session for session in live if session.id == told.session), stand_in(live))
    inbox = parked_inbox(told.agent) if reader is None else reader.inbox
    task = told.task
    update = Message(  # positional arguments, for speed: every move of every task runs this code
        ids.message_id(act.now),
        Kind.UPDATE,
        sender,
        (Address(AddressKind.AGENT, told.agent),),
        told.parts,
        act.now,
        about.thread,
        about.root,
        None if task else about.subject,
        about.scope,
        None,
        about.id,
        about.id,
        about.correlation_id if task else None,
        False,
        about.hops_left,
        about.trace,
        task,
        about.callback if task else None,
        None,
        None,
        about.traceparent if task else None,
        {},
        about.depth + 1,
        None,
    )
    delivery = DeliveryRecord(
        delivery_id(update.id, 1),
        update.id,
        inbox,
        told.agent,
        DeliveryState.QUEUED,
        update.kind,
        sender.agent,
        False,
        act.now,
        0,
        await act.tx.agents.next_number(told.agent),
        update.scope,
        update.subject,
    )
    receipt = await file(act._replace(actor=sender), update, encode(update), (delivery,), ())
    agent = await act.tx.agents.get(told.agent) if reader is None else None  # a channel has no sessions
    if agent is not None and agent.card.channel:
        # imported late because most updates are not for channels
        from covey.services.channels.conversations import post_all

        await post_all(act, update, about, (delivery,))
    return update, receipt.deliveries[0]
