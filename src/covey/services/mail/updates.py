"""Updates: messages that tell an agent of a change to another message. This module files them and counts nothing."""

from typing import NamedTuple

from covey.core.address import Address, AddressKind
from covey.core.directory.routing import stand_in
from covey.core.identity import Identity
from covey.core.ids import SessionId, delivery_id, parked_inbox
from covey.core.ledger.delivery import Delivery, DeliveryState
from covey.core.ledger.message import Kind, Message, Part, TaskRef
from covey.core.ledger.wire import encode
from covey.core.names import AgentName
from covey.ports.clock import Ids
from covey.ports.directory import Liveness
from covey.services.act import Act
from covey.services.directory.presence import live_sessions
from covey.services.mail.filing import file


class NoticePorts(NamedTuple):
    """The ports that a notice needs."""

    ids: Ids
    liveness: Liveness


class Told(NamedTuple):
    """The content of an update and its reader: the session, if it is live, else another session of the agent."""

    agent: AgentName
    session: SessionId | None
    parts: tuple[Part, ...]
    task: TaskRef | None = None


async def file_update(
    act: Act, about: Message, told: Told, sender: Identity, ids: Ids, liveness: Liveness
) -> tuple[Message, Delivery]:
    """File an update about a message. Return the update and its delivery. An update passes every rule and spends no
    hops. An update about a task has no subject: it never takes the place of an update about another task."""
    live = await live_sessions(act, told.agent, liveness)
    reader = next((session for session in live if session.id == told.session), stand_in(live))
    inbox = parked_inbox(told.agent) if reader is None else reader.inbox
    task = told.task
    update = Message(  # by position: every move of every task comes by here
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
    delivery = Delivery(
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
    agent = await act.tx.agents.get(told.agent) if reader is None else None  # nobody joins as a channel
    if agent is not None and agent.card.channel:
        from covey.services.channels.posting import post_all  # here because most are not told through one

        await post_all(act, update, about, (delivery,))
    return update, receipt.deliveries[0]
