"""Answers of a child: its results are sent in its name to the asker, and to the people who read along."""

from covey.core.identity import Identity
from covey.core.ids import ticket_id
from covey.core.ledger.draft import Draft, compose
from covey.core.ledger.marks import Marks
from covey.core.ledger.message import DataPart, Kind, Message, Part, TextPart
from covey.core.ledger.ticket import TicketState
from covey.core.ledger.wire import encode
from covey.core.names import AgentName
from covey.core.work.run import Run, RunState
from covey.ports.children import Product
from covey.services.act import Act
from covey.services.mail.acceptance import Acceptance
from covey.services.mail.notices import tell_of
from covey.services.mail.recipients import SendPolicy
from covey.services.mail.updates import NoticePorts, Told

_IN_WORDS = {
    RunState.COMPLETED: "Done.",
    RunState.FAILED: "It failed.",
    RunState.TIMED_OUT: "It took longer than it may.",
    RunState.STOPPED: "It was stopped.",
    RunState.LOST: "It is lost: what watched over it is gone, and it was ended with it.",
}


async def answer_for(
    act: Act, run: Run, request: Message, product: Product, desk: NoticePorts, speaker: Identity
) -> Message | None:
    """Answer a request in a child's name; an answer that the child gave itself stands. Return the answer, or None if no
    answer is owed any more."""
    ticket = await act.tx.tickets.get(ticket_id(request.id, run.agent))
    if ticket is None or ticket.state is not TicketState.OPEN:
        return await act.tx.messages.get(ticket.answer) if ticket is not None and ticket.answer is not None else None
    draft = Draft(kind=Kind.RESPONSE, to=(), parts=parts_of(product), in_reply_to=request.id)
    return await _send(act, draft, request, desk, speaker, result_marks(run, product))


async def remark_on(
    act: Act, run: Run, message: Message, product: Product, desk: NoticePorts, speaker: Identity
) -> None:
    """Send a child's result to the people on a channel who wrote to it."""
    sender = await act.tx.agents.get(message.sender.agent)
    if sender is None or not sender.card.channel:
        return  # a sender that is not a channel and asked nothing expects no reply
    draft = Draft(kind=Kind.NOTIFY, to=(), parts=parts_of(product), in_reply_to=message.id)
    await _send(act, draft, message, desk, speaker, result_marks(run, product))


async def show_in_thread(act: Act, run: Run, answer: Message, desk: NoticePorts) -> None:
    """Post an answer of a child in the conversation that it is bound to, unless it is sent there anyway."""
    if run.thread is None or any(address.value == run.thread.channel for address in answer.to):
        return
    told = Told(AgentName(run.thread.channel), None, answer.parts)
    await tell_of(act, answer._replace(callback=run.thread), told, answer.sender, desk.ids, desk.liveness)


async def _send(
    act: Act, draft: Draft, answered: Message, desk: NoticePorts, speaker: Identity, marks: Marks
) -> Message:
    message = compose(draft, speaker, desk.ids.message_id(act.now), act.now, answered)._replace(marks=marks)
    acceptance = Acceptance(desk.ids, desk.liveness)
    # It closes the ticket: the child will not archive it later.
    policy = SendPolicy(closes=True, finishes=True)
    await acceptance.accept(act._replace(actor=speaker), message, encode(message), policy, answered, [])
    return message


def parts_of(product: Product) -> tuple[Part, ...]:
    """Return a product as the parts of a message. There is always a text."""
    text = product.text or product.reason
    parts: tuple[Part, ...] = (TextPart(text),) if text else ()
    if product.data is not None:
        parts += (DataPart(product.data),)
    parts += product.files
    return parts or (TextPart(_IN_WORDS[product.state]),)


def result_marks(run: Run, product: Product) -> Marks:
    """Return the marks of a child's result: its run, and its end."""
    return Marks(run=run.id, status=str(product.state), reason=product.reason or None)
