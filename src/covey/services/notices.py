"""Notices: the space tells an asker what became of a request. They pass every rule and spend nobody's hops."""

from covey.core.address import Address, AddressKind
from covey.core.delivery import Delivery, DeliveryState
from covey.core.identity import THE_SPACE
from covey.core.ids import delivery_id, parked_inbox
from covey.core.message import Kind, Message
from covey.core.parts import DataPart, TextPart
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
    if request is None or await act.tx.agents.get(ticket.asker) is None:
        return
    live = await live_sessions(act, ticket.asker, liveness)
    inbox = next(
        (session.inbox for session in live if session.id == ticket.asker_session),
        live[0].inbox if live else parked_inbox(ticket.asker),
    )
    notice = Message(
        id=ids.message_id(act.now),
        kind=Kind.UPDATE,
        sender=THE_SPACE,
        to=(Address(AddressKind.AGENT, ticket.asker),),
        parts=(
            TextPart(f"Your request to {ticket.debtor} was {why} before it was answered. It stays owed."),
            _about(ticket, why),
        ),
        created_at=act.now,
        thread=request.thread,
        root=request.root,
        subject=request.subject,
        scope=request.scope,
        cause=request.id,
        in_reply_to=request.id,
        hops_left=request.hops_left,
        trace=request.trace,
    )
    delivery = Delivery(
        id=delivery_id(notice.id, 1),
        message_id=notice.id,
        inbox=inbox,
        agent=ticket.asker,
        state=DeliveryState.QUEUED,
        kind=notice.kind,
        sender=THE_SPACE.agent,
        expects_reply=False,
        updated_at=act.now,
        number=await act.tx.agents.next_number(ticket.asker),
        scope=notice.scope,
        subject=notice.subject,
    )
    await file(act._replace(actor=THE_SPACE), notice, encode(notice), (delivery,), ())
