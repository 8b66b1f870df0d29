"""The end of a run: its answer, its record and its session, in one transaction; and notices about lost runs."""

from typing import Final

from covey.core.address import Address, AddressKind
from covey.core.directory.routing import stand_in
from covey.core.identity import THE_SPACE, Grade, Identity
from covey.core.ids import MessageId, delivery_id, parked_inbox
from covey.core.ledger.delivery import Delivery, DeliveryState
from covey.core.ledger.draft import Draft, compose
from covey.core.ledger.event import Action
from covey.core.ledger.marks import Marks
from covey.core.ledger.message import DataPart, Kind, Message, TextPart
from covey.core.ledger.ticket import TicketMove, TicketState
from covey.core.ledger.wire import encode
from covey.core.text.hidden import unbroken
from covey.core.work.run import ENDING_MOVE, Run, RunMode, RunState
from covey.ports.children import Product
from covey.services.act import Act, journal, shift_ticket
from covey.services.children.run_answers import answer_for, show_in_thread
from covey.services.children.run_moves import shift_run, unbind_run
from covey.services.directory.presence import end_session, is_live, live_sessions
from covey.services.mail.filing import file
from covey.services.mail.notices import tell_of
from covey.services.mail.updates import NoticePorts, Told

ENDS: Final = {
    RunState.COMPLETED: "it is done",
    RunState.FAILED: "it failed",
    RunState.TIMED_OUT: "its time was over",
    RunState.STOPPED: "it was stopped",
    RunState.LOST: "it is lost",
}


async def end_run(act: Act, run: Run, product: Product, desk: NoticePorts) -> Run:
    """End a running child: its result is delivered to the asker, and its session is ended."""
    child = Identity(run.agent, run.session, Grade.SESSION)
    request = await act.tx.messages.get(run.request)
    if request is not None:
        ticket = await act.tx.tickets.get(run.ticket)
        if run.mode is RunMode.SESSION and ticket is not None and ticket.state is not TicketState.OPEN:
            await _tell_of_end(act, run, request, product, desk)
        await answer_for(act, run, request, product, desk, child)
        await close_answered(act, run)
        found = await act.tx.runs.get(run.id)
        if found is not None and found.has_ended:  # a lookup of its sessions found it dead
            return found
    after = await shift_run(act, run, ENDING_MOVE[product.state], product.reason or None)
    await unbind_run(act, run)
    session = await act.tx.sessions.get(run.session)
    if session is not None and not session.has_ended:
        others = [other for other in await act.tx.sessions.of_agent(run.agent) if other.id != session.id]
        siblings = [other for other in others if is_live(other, desk.liveness, act.now)]
        await end_session(act, session, product.reason or ENDS[product.state], siblings)
    return after


async def close_answered(act: Act, run: Run) -> None:
    """Archive a request that the child answered itself, because the child is over and will not archive it."""
    ticket = await act.tx.tickets.get(run.ticket)
    if ticket is not None and ticket.state is TicketState.ANSWERED:
        await shift_ticket(act, ticket, TicketMove.ARCHIVE)


async def mend_runs(act: Act, limit: int, desk: NoticePorts) -> int:
    """Notify the parents of lost runs. Return the number of these runs, up to the limit."""
    untold = await act.tx.runs.untold(limit)
    for run in untold:
        told = await _tell_lost(act, run, desk)
        await act.tx.runs.put(run._replace(is_told=True))
        await journal(act, Action.RUN_TOLD, message_id=run.request, agent=run.parent_agent, run=run.id, told=told)
    return len(untold)


async def _tell_lost(act: Act, run: Run, desk: NoticePorts) -> MessageId | None:
    """Answer in the child's name. If the child was never asked, the space notifies its parent instead."""
    reason = run.reason or ENDS[run.state]
    request = await act.tx.messages.get(run.request)
    if request is None:
        return await _tell_of_broken_spawn(act, run, reason, desk)
    text = (
        f"The child {run.key} is lost: {unbroken(reason)}. Nothing of it runs any more, and its task was not finished."
    )
    product = Product(RunState.LOST, text, reason=reason)
    answer = await answer_for(act, run, request, product, desk, Identity(run.agent, run.session, Grade.SPACE))
    await close_answered(act, run)
    if answer is None or answer.sender.grade is not Grade.SPACE:
        # It had answered before it was lost. The parent of a staying child is told that it is gone.
        return await _tell_of_end(act, run, request, product, desk) if run.mode is RunMode.SESSION else None
    await show_in_thread(act, run, answer, desk)
    return answer.id


async def _tell_of_end(act: Act, run: Run, request: Message, product: Product, desk: NoticePorts) -> MessageId:
    """Tell the parent of a staying child that the child has ended."""
    text = f"The child {run.key} has ended: {unbroken(product.reason or ENDS[product.state])}."
    told = Told(run.parent_agent, run.parent, (TextPart(text), DataPart({"status": str(product.state), "run": run.id})))
    return (await tell_of(act, request, told, THE_SPACE, desk.ids, desk.liveness)).id


async def _tell_of_broken_spawn(act: Act, run: Run, reason: str, desk: NoticePorts) -> MessageId:
    why = unbroken(reason)
    text = f"The start of a child of {run.agent} was broken off ({why}). Nothing of it runs, and it did nothing."
    draft = Draft(
        kind=Kind.NOTIFY,
        to=(Address(AddressKind.AGENT, run.parent_agent),),
        parts=(TextPart(text),),
    )
    marks = Marks(run=run.id, status=str(run.state), reason=reason)
    notice = compose(draft, THE_SPACE, desk.ids.message_id(act.now), act.now)._replace(marks=marks)
    live = await live_sessions(act, run.parent_agent, desk.liveness)
    parent = next((session for session in live if session.id == run.parent), stand_in(live))
    delivery = Delivery(
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
