"""References: the ways in which a model names a message, and the evidence and the causes that follow from them."""

from collections.abc import Mapping
from contextlib import suppress
from typing import Final

from covey.core.errors import DeliveryUnknown, Invalid, NumberUnknown
from covey.core.identity import Grade
from covey.core.ledger.delivery import DeliveryState
from covey.core.ledger.draft import Draft
from covey.core.ledger.message import Message
from covey.core.ledger.ticket import Ticket
from covey.core.names import AgentName, MessageId, TicketId, parse_message_id, parse_ticket_id
from covey.toolkits.answers import listed
from covey.toolkits.tool import Caller

DIGITS: Final = 15
"""The maximal number of digits of a message number."""


async def numbers_of(caller: Caller) -> dict[int, AgentName]:
    """Return the numbers of the caller's waiting mail, with the senders."""
    items = await caller.services.inbox.peek(caller.identity.agent)
    return {item.delivery.number: item.message.sender.agent for item in items}


def listed_numbers(numbers: Mapping[int, AgentName]) -> str:
    """Return a sentence that lists the numbers that can be used."""
    return f"Waiting: {listed([f'#{number} from {sender}' for number, sender in numbers.items()]) or 'nothing'}."


async def message_of(caller: Caller, reference: str, what: str = "message") -> MessageId:
    """Return the message that the caller names by its number or its id."""
    if reference.isascii() and reference.isdecimal():
        if len(reference) > DIGITS:
            raise NumberUnknown(reference, caller.identity.agent)
        return (await caller.services.dialogue.numbered(caller.identity.agent, int(reference))).message_id
    try:
        return parse_message_id(reference)
    except Invalid:
        raise Invalid(
            what, reference, "use the number of a message, such as 3, or its id as you were shown it"
        ) from None


def check_answerable(message: Message, what: str) -> Message:
    """Return a message that can be answered. Raise Invalid for a notice of the space."""
    if message.sender.grade is Grade.SPACE:
        raise Invalid(what, message.id, "it is a notice of the space itself: nobody reads an answer")
    return message


async def was_named(caller: Caller, message_id: MessageId, tool: str) -> None:
    """Record that the model named a message in a call: it must have had it in its context.

    Call this after the action of the call: evidence settles a message that asks for nothing, and the action may settle
    it with a better reason.
    """
    if caller.identity.session is None:
        return
    with suppress(DeliveryUnknown):  # its own message, or another session's
        await caller.services.offers.named(message_id, caller.identity, f"named in {tool}")


def given_ticket(written: str, tool: str) -> TicketId:
    """Parse the ticket that a model got from a tool."""
    try:
        return parse_ticket_id(written.strip())
    except Invalid:
        raise Invalid("ticket", written, f"copy it exactly as {tool} gave it to you") from None


async def progress_of(caller: Caller, ticket: Ticket) -> str:
    """Return the progress of a question, as its receiver's action."""
    receipt = await caller.services.mail.receipt(ticket.message_id)
    copies = [copy for copy in receipt.deliveries if copy.agent == ticket.debtor]
    if any(copy.state in (DeliveryState.IN_CONTEXT, DeliveryState.HANDLED) for copy in copies):
        return "has read it"
    return "is offline" if all(copy.is_parked for copy in copies) else "has not read it"


async def with_cause(caller: Caller, draft: Draft) -> Draft:
    """Return the draft as part of the causal tree that made the model write it, so that a storm is recognised."""
    if draft.in_reply_to is not None or draft.relaying is not None:
        return draft
    return draft._replace(led_by=await caller.services.recently_shown.leading(caller.identity.session, draft.to))
