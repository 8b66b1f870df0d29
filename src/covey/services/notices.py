"""Notices: the space tells a sender what became of its message. They pass every rule and spend nobody's hops."""

from covey.core.address import Address, AddressKind
from covey.core.delivery import Delivery, DeliveryState
from covey.core.identity import THE_SPACE
from covey.core.ids import delivery_id, parked_inbox
from covey.core.message import Kind, Message
from covey.core.names import AgentName
from covey.core.parts import DataPart, Part, TextPart
from covey.core.ticket import Ticket, Trouble
from covey.core.wire import encode
from covey.ports.clock import Ids
from covey.ports.presence import Liveness
from covey.services.act import Act, trouble
from covey.services.filing import file
from covey.services.presence import live_sessions


async def report_trouble(act: Act, ticket: Ticket, why: Trouble, ids: Ids, liveness: Liveness) -> None:
    """Note the trouble on the ticket and tell the asker, once."""
    after = await trouble(act, ticket, why)
    if after is not ticket:
        await _tell(act, after, why, ids, liveness)


def is_notice_of(message: Message, ticket: Ticket) -> bool:
    """Tell whether the space says with `message` what became of the request of `ticket`."""
    if message.sender != THE_SPACE or ticket.trouble is None:
        return False
    return message.in_reply_to == ticket.message_id and _about(ticket, ticket.trouble) in message.parts


def _about(ticket: Ticket, why: Trouble) -> DataPart:
    return DataPart({"ticket": ticket.id, "trouble": str(why)})


async def _tell(act: Act, ticket: Ticket, why: Trouble, ids: Ids, liveness: Liveness) -> None:
    request = await act.tx.messages.get(ticket.message_id)
    if request is not None:
        text = f"Your request to {ticket.debtor} was {why} before it was answered. It stays owed."
        await _notify_sender(act, request, (TextPart(text), _about(ticket, why)), ids, liveness)


async def report_unauthorized(act: Act, message: Message, recipient: AgentName, ids: Ids, liveness: Liveness) -> None:
    """Tell a sender that a recipient does not take its mail: the same that its receipt says."""
    text = f"Your message to {recipient} was rejected: unauthorized."
    data = DataPart({"state": "rejected", "reason": "unauthorized", "agent": recipient})
    await _notify_sender(act, message, (TextPart(text), data), ids, liveness)


async def _notify_sender(act: Act, about: Message, parts: tuple[Part, ...], ids: Ids, liveness: Liveness) -> None:
    """Put a notice about a message into its sender's inbox: the session's that sent it, where it is live."""
    agent = about.sender.agent
    if await act.tx.agents.get(agent) is None:
        return
    live = await live_sessions(act, agent, liveness)
    inbox = next(
        (session.inbox for session in live if session.id == about.sender.session),
        live[0].inbox if live else parked_inbox(agent),
    )
    notice = Message(
        id=ids.message_id(act.now),
        kind=Kind.UPDATE,
        sender=THE_SPACE,
        to=(Address(AddressKind.AGENT, agent),),
        parts=parts,
        created_at=act.now,
        thread=about.thread,
        root=about.root,
        subject=about.subject,
        scope=about.scope,
        cause=about.id,
        in_reply_to=about.id,
        hops_left=about.hops_left,
        trace=about.trace,
    )
    delivery = Delivery(
        id=delivery_id(notice.id, 1),
        message_id=notice.id,
        inbox=inbox,
        agent=agent,
        state=DeliveryState.QUEUED,
        kind=notice.kind,
        sender=THE_SPACE.agent,
        expects_reply=False,
        updated_at=act.now,
        number=await act.tx.agents.next_number(agent),
        scope=notice.scope,
        subject=notice.subject,
    )
    await file(act._replace(actor=THE_SPACE), notice, encode(notice), (delivery,), ())
