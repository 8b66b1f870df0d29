"""Tickets: parsed as a model hands them back, with the progress of their questions."""

from covey.core.delivery import DeliveryState
from covey.core.errors import Invalid
from covey.core.ids import TicketId, parse_ticket_id
from covey.core.ticket import Ticket
from covey.toolkits.tool import Caller


def given_ticket(written: str, tool: str) -> TicketId:
    """Parse the ticket that a model got from a tool."""
    try:
        return parse_ticket_id(written.strip())
    except Invalid:
        raise Invalid("ticket", written, f"copy it exactly as {tool} gave it to you") from None


async def standing(caller: Caller, ticket: Ticket) -> str:
    """Return the progress of a question, as its receiver's action."""
    receipt = await caller.services.mail.receipt(ticket.message_id)
    copies = [copy for copy in receipt.deliveries if copy.agent == ticket.debtor]
    if any(copy.state in (DeliveryState.IN_CONTEXT, DeliveryState.HANDLED) for copy in copies):
        return "has read it"
    return "is offline" if all(copy.is_parked for copy in copies) else "has not read it"
