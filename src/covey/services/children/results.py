"""Results of children: the answer in a child's name, the end of its run and session in the same transaction, and
notices about lost runs."""

from typing import Final

from covey.core.directory.routing import stand_in
from covey.core.identity import THE_SPACE, Address, AddressKind, Grade, Identity
from covey.core.ledger.delivery import DeliveryRecord, DeliveryState
from covey.core.ledger.draft import Draft, compose
from covey.core.ledger.event import Action
from covey.core.ledger.marks import Marks
from covey.core.ledger.message import DataPart, Kind, Message, Part, TextPart
from covey.core.ledger.ticket import TicketMove, TicketState
from covey.core.ledger.wire import encode
from covey.core.names import AgentName, MessageId, delivery_id, parked_inbox, ticket_id
from covey.core.text.hidden import unbroken
from covey.core.work.run import ENDING_MOVE, Run, RunMode, RunState
from covey.ports.children import ChildResult
from covey.services.act import Act, journal, shift_ticket
from covey.services.children.run_moves import shift_run, unbind_run
from covey.services.directory.presence import end_session, is_live, live_sessions
from covey.services.mail.acceptance import Acceptance
from covey.services.mail.filing import NoticePorts, UpdateDraft, file
from covey.services.mail.notices import tell_of
from covey.services.mail.recipients import SendPolicy

_IN_WORDS = {
    RunState.COMPLETED: "Done.",
    RunState.FAILED: "It failed.",
    RunState.TIMED_OUT: "It took longer than its time limit.",
    RunState.STOPPED: "It was stopped.",
    RunState.LOST: "It is lost: its supervisor is gone, and it was ended with it.",
}


async def answer_for(
    act: Act, run: Run, request: Message, product: ChildResult, notice_ports: NoticePorts, speaker: Identity
) -> Message | None:
    """Answer a request in a child's name; an answer that the child gave itself stands. Return the answer, or None if no
    answer is owed any more."""
    ticket = await act.tx.tickets.get(ticket_id(request.id, run.agent))
    if ticket is None or ticket.state is not TicketState.OPEN:
        return await act.tx.messages.get(ticket.answer) if ticket is not None and ticket.answer is not None else None
    draft = Draft(kind=Kind.RESPONSE, to=(), parts=parts_of(product), in_reply_to=request.id)
    return await _send(act, draft, request, notice_ports, speaker, result_marks(run, product))


async def remark_on(
    act: Act, run: Run, message: Message, product: ChildResult, notice_ports: NoticePorts, speaker: Identity
) -> None:
    """Send a child's result to the people on a channel who wrote to it."""
    sender = await act.tx.agents.get(message.sender.agent)
    if sender is None or not sender.card.channel:
        return  # a sender that is not a channel and asked nothing expects no reply
    draft = Draft(kind=Kind.NOTIFY, to=(), parts=parts_of(product), in_reply_to=message.id)
    await _send(act, draft, message, notice_ports, speaker, result_marks(run, product))


async def show_in_thread(act: Act, run: Run, answer: Message, notice_ports: NoticePorts) -> None:
    """Post an answer of a child in the conversation that it is bound to, unless it is sent there anyway."""
    if run.thread is None or any(address.value == run.thread.channel for address in answer.to):
        return
    told = UpdateDraft(AgentName(run.thread.channel), None, answer.parts)
    await tell_of(
        act, answer._replace(callback=run.thread), told, answer.sender, notice_ports.ids, notice_ports.liveness
    )


async def _send(
    act: Act, draft: Draft, answered: Message, notice_ports: NoticePorts, speaker: Identity, marks: Marks
) -> Message:
    message = compose(draft, speaker, notice_ports.ids.message_id(act.now), act.now, answered)._replace(marks=marks)
    acceptance = Acceptance(notice_ports.ids, notice_ports.liveness)
    # It closes the ticket: the child will not archive it later.
    policy = SendPolicy(closes=True, finishes=True)
    await acceptance.accept(act._replace(actor=speaker), message, encode(message), policy, answered, [])
    return message


def parts_of(product: ChildResult) -> tuple[Part, ...]:
    """Return a product as the parts of a message. There is always a text."""
    text = product.text or product.reason
    parts: tuple[Part, ...] = (TextPart(text),) if text else ()
    if product.data is not None:
        parts += (DataPart(product.data),)
    parts += product.files
    return parts or (TextPart(_IN_WORDS[product.state]),)


def result_marks(run: Run, product: ChildResult) -> Marks:
    """Return the marks of a child's result: its run, and its end."""
    return Marks(run=run.id, status=str(product.state), reason=product.reason or None)


ENDS: Final = {
    RunState.COMPLETED: "it is done",
    RunState.FAILED: "it failed",
    RunState.TIMED_OUT: "its time limit passed",
    RunState.STOPPED: "it was stopped",
    RunState.LOST: "it is lost",
}


async def end_run(act: Act, run: Run, product: ChildResult, notice_ports: NoticePorts) -> Run:
    """End a running child: its result is delivered to the asker, and its session is ended."""
    child = Identity(run.agent, run.session, Grade.SESSION)
    request = await act.tx.messages.get(run.request)
    if request is not None:
        ticket = await act.tx.tickets.get(run.ticket)
        if run.mode is RunMode.SESSION and ticket is not None and ticket.state is not TicketState.OPEN:
            await _tell_of_end(act, run, request, product, notice_ports)
        await answer_for(act, run, request, product, notice_ports, child)
        await close_answered(act, run)
        found = await act.tx.runs.get(run.id)
        if found is not None and found.has_ended:  # a lookup of its sessions found it dead
            return found
    after = await shift_run(act, run, ENDING_MOVE[product.state], product.reason or None)
    await unbind_run(act, run)
    session = await act.tx.sessions.get(run.session)
    if session is not None and not session.has_ended:
        others = [other for other in await act.tx.sessions.of_agent(run.agent) if other.id != session.id]
        siblings = [other for other in others if is_live(other, notice_ports.liveness, act.now)]
        await end_session(act, session, product.reason or ENDS[product.state], siblings)
    return after


async def close_answered(act: Act, run: Run) -> None:
    """Archive a request that the child answered itself, because the child is over and will not archive it."""
    ticket = await act.tx.tickets.get(run.ticket)
    if ticket is not None and ticket.state is TicketState.ANSWERED:
        await shift_ticket(act, ticket, TicketMove.ARCHIVE)


async def mend_runs(act: Act, limit: int, notice_ports: NoticePorts) -> int:
    """Notify the parents of lost runs. Return the number of these runs, up to the limit."""
    untold = await act.tx.runs.untold(limit)
    for run in untold:
        told = await _tell_lost(act, run, notice_ports)
        await act.tx.runs.put(run._replace(is_told=True))
        await journal(act, Action.RUN_TOLD, message_id=run.request, agent=run.parent_agent, run=run.id, told=told)
    return len(untold)


async def _tell_lost(act: Act, run: Run, notice_ports: NoticePorts) -> MessageId | None:
    """Answer in the child's name. If the child was never asked, the space notifies its parent instead."""
    reason = run.reason or ENDS[run.state]
    request = await act.tx.messages.get(run.request)
    if request is None:
        return await _tell_of_broken_spawn(act, run, reason, notice_ports)
    text = (
        f"The child {run.key} is lost: {unbroken(reason)}. None of its processes runs, and its task was not finished."
    )
    product = ChildResult(RunState.LOST, text, reason=reason)
    answer = await answer_for(act, run, request, product, notice_ports, Identity(run.agent, run.session, Grade.SPACE))
    await close_answered(act, run)
    if answer is None or answer.sender.grade is not Grade.SPACE:
        # The child had answered before it was lost. The parent of a staying child is notified that the child is gone.
        return await _tell_of_end(act, run, request, product, notice_ports) if run.mode is RunMode.SESSION else None
    await show_in_thread(act, run, answer, notice_ports)
    return answer.id


async def _tell_of_end(
    act: Act, run: Run, request: Message, product: ChildResult, notice_ports: NoticePorts
) -> MessageId:
    """Notify the parent of a staying child that the child has ended."""
    text = f"The child {run.key} has ended: {unbroken(product.reason or ENDS[product.state])}."
    told = UpdateDraft(
        run.parent_agent, run.parent, (TextPart(text), DataPart({"status": str(product.state), "run": run.id}))
    )
    return (await tell_of(act, request, told, THE_SPACE, notice_ports.ids, notice_ports.liveness)).id


async def _tell_of_broken_spawn(act: Act, run: Run, reason: str, notice_ports: NoticePorts) -> MessageId:
    why = unbroken(reason)
    text = f"The start of a child of {run.agent} was aborted ({why}). No process was left, and no work was done."
    draft = Draft(
        kind=Kind.NOTIFY,
        to=(Address(AddressKind.AGENT, run.parent_agent),),
        parts=(TextPart(text),),
    )
    marks = Marks(run=run.id, status=str(run.state), reason=reason)
    notice = compose(draft, THE_SPACE, notice_ports.ids.message_id(act.now), act.now)._replace(marks=marks)
    live = await live_sessions(act, run.parent_agent, notice_ports.liveness)
    parent = next((session for session in live if session.id == run.parent), stand_in(live))
    delivery = DeliveryRecord(
        id=delivery_id(notice.id, 1),
        message_id=notice.id,
        inbox=parked_inbox(run.parent_agent) if parent is None else parent.inbox,
        agent=run.parent_agent,
        state=DeliveryState.QUEUED,
        kind=notice.kind,
        sender=THE_SPACE.agent,
        expects_reply=False,
        updated_at=act.now,
        number=await act.tx.agents.next_number(run.parent_agent),
    )
    await file(act._replace(actor=THE_SPACE), notice, encode(notice), (delivery,), ())
    return notice.id
