"""The end of a negotiation, at its limit of rounds or before: the target is asked for an announcement, which is posted
where the result is wanted."""

from collections.abc import Awaitable, Callable

from covey.core.identity import Address, AddressKind, Identity
from covey.core.ledger.delivery import WAITING, Move
from covey.core.ledger.draft import Draft, compose
from covey.core.ledger.marks import Marks, Step
from covey.core.ledger.message import Kind, Message, TextPart
from covey.core.ledger.ticket import TicketMove, TicketState
from covey.core.work.negotiation import (
    ANNOUNCE_SKIP,
    ROUNDS,
    ROUNDS_SETTING,
    Negotiation,
    announce_prompt,
    ending_of,
    is_skip,
    read_negotiation,
    step_of,
)
from covey.ports.clock import Ids
from covey.ports.store import Transaction
from covey.services.act import Act, shift, shift_ticket
from covey.services.tasks.moves import channel_of


async def rounds_of(tx: Transaction) -> int:
    """Return the limit. The operator sets it, also for negotiations in progress."""
    return int(await tx.settings.get(ROUNDS_SETTING) or ROUNDS)


Accept = Callable[[Act, Message, Message], Awaitable[object]]
"""Accepts a reply into the ledger. A refusal is returned, and changes nothing here."""


async def conclude(act: Act, message: Message, answered: Message, ids: Ids, accept: Accept) -> None:
    """Apply the consequences of a reply within a negotiation, after it was filed. Most replies have none."""
    if step_of(message) is Step.END:
        await _let_go(act, message)
        await _ask_target(act, message, ids, accept)
    elif message.kind is Kind.RESPONSE:
        asked = step_of(answered)
        if asked is Step.ANNOUNCE:
            await _announce(act, message, answered, ids, accept)
        elif asked is Step.ROUND and ending_of(answered, message, await rounds_of(act.tx)) is not None:
            await _ask_target(act, message, ids, accept)


async def _ask_target(act: Act, message: Message, ids: Ids, accept: Accept) -> None:
    """Ask the target, in the asker's name, for the announcement to people, if there is a conversation for it."""
    if await channel_of(act, message) is None:  # the callback is set on the whole thread
        return
    found = read_negotiation(await act.tx.messages.thread(message.thread), await rounds_of(act.tx))
    if found is None or found.ending is None or found.announce is not None:
        return
    asker = found.first.sender
    draft = Draft(
        kind=Kind.REQUEST,
        to=found.first.to,
        parts=(TextPart(announce_prompt(asker.agent, found.ending)),),
        round=found.round,
        expects_reply=True,
        callback=found.first.callback,
    )
    await _settle(act, message, found, "replaced by the question about the announcement")
    question = _following(act, draft, asker, message, ids)._replace(marks=Marks(step=Step.ANNOUNCE))
    await accept(act, question, message)


async def _announce(act: Act, said: Message, request: Message, ids: Ids, accept: Accept) -> None:
    """Post the target's announcement to the conversation. The asker has it in the thread, and is not shown it again."""
    found = read_negotiation(await act.tx.messages.thread(said.thread), await rounds_of(act.tx))
    if found is None or found.announce is None or not found.is_reply_of_debtor(said, found.announce):
        return  # only the target's own answer is announced
    for copy in await act.tx.deliveries.of_message(said.id):
        if copy.agent == request.sender.agent and copy.state in WAITING:
            await shift(act, copy, Move.SETTLE, "announced")
    channel = await channel_of(act, request)
    if channel is None or is_skip(said.text, ANNOUNCE_SKIP) or is_skip(said.text):
        return
    draft = Draft(
        kind=Kind.NOTIFY,
        to=(Address(AddressKind.AGENT, channel.name),),
        parts=said.parts,
        callback=request.callback,
    )
    await accept(act, _following(act, draft, said.sender, said, ids), said)


def _following(act: Act, draft: Draft, sender: Identity, before: Message, ids: Ids) -> Message:
    """Return a message by the space in a sender's name, following another one in its thread. It is not a relay by that
    sender, and has all its hops."""
    message = compose(draft, sender, ids.message_id(act.now), act.now, led_by=before)
    return message._replace(thread=before.thread, in_reply_to=before.id)


async def _settle(act: Act, message: Message, found: Negotiation, why: str) -> None:
    """Settle a bare REPLY_SKIP to the target: the question that follows it says the same."""
    if step_of(message) is not Step.END or message.sender != found.first.sender:
        return
    for copy in await act.tx.deliveries.of_message(message.id):
        if copy.state in WAITING:
            await shift(act, copy, Move.SETTLE, why)


async def _let_go(act: Act, message: Message) -> None:
    """Waive the open question of the side that ends the negotiation."""
    earlier = await act.tx.messages.thread(message.thread)
    found = read_negotiation([one for one in earlier if one.id != message.id], await rounds_of(act.tx))
    asked = None if found is None else found.awaited_by(message.sender)
    if asked is None:
        return
    for ticket in await act.tx.tickets.of_message(asked.id):
        if ticket.state is TicketState.OPEN:
            await shift_ticket(act, ticket, TicketMove.WAIVE)
    for copy in await act.tx.deliveries.of_message(asked.id):
        if copy.state in WAITING:
            await shift(act, copy, Move.SETTLE, "the negotiation is over")
