"""Decisions: a request for approval has exactly one answer, a decision by an agent that was asked."""

from collections.abc import Mapping
from typing import Final

from covey.core.approval import ApprovalRequest, read_decision, requested
from covey.core.authority import check_recipient
from covey.core.errors import AlreadyDecided, DecisionMissing, Invalid
from covey.core.message import Kind, Message
from covey.core.ticket import Ticket, TicketMove, TicketState
from covey.services.act import Act

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
