"""Answers: the effect of a response on the debt it settles, and of a question back on the debt it postpones."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Final

from covey.core.authority import check_recipient
from covey.core.errors import AlreadyDecided, DecisionMissing, Invalid
from covey.core.ledger.delivery import WAITING, Move
from covey.core.ledger.message import Kind, Message
from covey.core.ledger.ticket import Ticket, TicketMove, TicketState
from covey.core.names import AgentName, MessageId, ticket_id
from covey.core.work.approval import ApprovalRequest, read_decision, requested
from covey.ports.store import Transaction
from covey.services.act import Act, pass_debt, shift, shift_ticket


async def debts_of(act: Act, message: Message) -> Sequence[Ticket]:
    """Return the tickets that `message` may settle or postpone: the sender's ticket for the request it replies to, if
    it is not closed. For the operator, return the tickets of every debtor."""
    if message.in_reply_to is None:
        return ()
    if message.sender.is_operator:
        tickets = await act.tx.tickets.of_message(message.in_reply_to)
    else:
        ticket = await act.tx.tickets.get(ticket_id(message.in_reply_to, message.sender.agent))
        tickets = (ticket,) if ticket else ()
    return [ticket for ticket in tickets if ticket.state is not TicketState.CLOSED]


async def has_answered(tx: Transaction, message: Message) -> bool:
    """Tell whether a response answered a ticket. A response from an agent that was not asked is only threaded."""
    if message.kind is not Kind.RESPONSE or message.in_reply_to is None:
        return False
    return any(ticket.answer == message.id for ticket in await tx.tickets.of_message(message.in_reply_to))


def pays(message: Message, debts: Iterable[Ticket], recipients: Collection[AgentName]) -> bool:
    """Tell whether a message answers an open question of one of its recipients."""
    if message.kind is not Kind.RESPONSE:
        return False
    return any(debt.state is TicketState.OPEN and debt.asker in recipients for debt in debts)


async def is_due(
    act: Act, message: Message, recipient: AgentName, debts: Sequence[Ticket], answered: Message | None
) -> bool:
    """Tell whether `recipient` expects this message: an answer to its open question, or an update of its own request or
    task from an agent that received it. Expected messages pass allow rules and full inboxes."""
    if message.kind is Kind.RESPONSE:
        return any(ticket.asker == recipient for ticket in debts)
    if message.kind is not Kind.UPDATE or answered is None or answered.sender.agent != recipient:
        return False
    copies = await act.tx.deliveries.of_message(answered.id) if answered.kind in (Kind.REQUEST, Kind.TASK) else ()
    return any(copy.agent == message.sender.agent and copy.has_arrived for copy in copies)


async def apply_answer(act: Act, message: Message, debts: Sequence[Ticket], *, closes: bool) -> bool:
    """Apply a response to the debts it answers. The first answer counts; a later one is only threaded. Tell whether the
    response settled every copy of the request that the sender has."""
    is_handled = False
    for ticket in debts:
        closing = (TicketMove.ARCHIVE,) if closes else ()
        if ticket.state is TicketState.OPEN:
            await shift_ticket(act, ticket, TicketMove.ANSWER, *closing, answer=message.id)
            await _settle_copies(act, ticket.message_id, ticket.debtor, message)
            is_handled = is_handled or ticket.debtor == message.sender.agent
        elif closes:
            await shift_ticket(act, ticket, TicketMove.ARCHIVE)
    return is_handled


async def _settle_copies(act: Act, request: MessageId, debtor: AgentName, answer: Message) -> None:
    """Settle the request in every inbox of the debtor."""
    for copy in await act.tx.deliveries.of_message(request):
        if copy.agent == debtor and copy.state in WAITING:
            is_own = copy.session is not None and copy.session == answer.sender.session
            await shift(act, copy, Move.SETTLE, "answered" if is_own or copy.is_parked else "answered by sibling")


async def settle_answered(act: Act, message: Message, answered: Message) -> None:
    """Settle the message that a reply answers, even if no reply was owed: the copy in the sender's own session,
    otherwise all copies of the sender's agent. A task is not settled here: it is settled when it is finished, and
    messages about it before that are remarks."""
    if answered.kind is Kind.TASK:
        return
    copies = [c for c in await act.tx.deliveries.of_message(answered.id) if c.agent == message.sender.agent]
    own = [copy for copy in copies if copy.session is not None and copy.session == message.sender.session]
    for copy in own or copies:
        if copy.state in WAITING:
            await shift(act, copy, Move.SETTLE, "answered")


async def apply_question_back(act: Act, debts: Sequence[Ticket], opened: Sequence[Ticket]) -> None:
    """Let a question back to the asker, in the same thread, pass the debt to the asker until the question is answered.
    A refused question passes nothing."""
    asked = {ticket.debtor: ticket for ticket in opened if ticket.state is TicketState.OPEN}
    for debt in debts:
        question = asked.get(debt.asker)
        if question is not None and debt.state is TicketState.OPEN:
            await pass_debt(act, debt, question)


_CLOSED: Final[Mapping[TicketMove | None, str]] = {
    TicketMove.WAIVE: "waived",
    TicketMove.FORCE: "forced",
    TicketMove.WITHDRAW: "withdrawn",
    TicketMove.REFUSE: "refused",
}


async def check_decision(act: Act, message: Message, answered: Message) -> None:
    """Raise if a response to a request for approval is not its decision: DecisionMissing if it contains none, NotYours
    if another agent was asked, AlreadyDecided if it is not the first. Any other message passes."""
    request = requested(answered) if message.kind is Kind.RESPONSE else None
    if request is None:
        return
    try:
        decision = read_decision(request, message.parts)
    except Invalid as fault:
        raise DecisionMissing(answered.id, fault.message) from None
    if decision is None:
        raise DecisionMissing(answered.id)
    tickets = await act.tx.tickets.of_message(answered.id)
    own = [ticket for ticket in tickets if ticket.debtor == message.sender.agent] or tickets
    for ticket in own:
        check_recipient(message.sender, "decide on", answered, ticket.debtor)
    if own and all(ticket.state is not TicketState.OPEN for ticket in own):
        raise AlreadyDecided(answered.id, await _end(act, request, own[0]), own[0].answer)


async def _end(act: Act, request: ApprovalRequest, ticket: Ticket) -> str:
    """Return the end of a request for approval, as one word."""
    answer = await act.tx.messages.get(ticket.answer) if ticket.answer else None
    decision = read_decision(request, answer.parts) if answer else None
    return decision.word if decision else _CLOSED.get(ticket.close_reason, "closed")
