"""One message under audit: itself, its deliveries, its tickets and its task, against the journal and the rules."""

from collections.abc import AsyncIterator, Sequence

from covey.core.account import delivery_account, ticket_account
from covey.core.consistency import copies_faults, debtors_faults, delivery_faults, number_faults, ticket_faults
from covey.core.delivery import Delivery
from covey.core.disagreement import Disagreement, differing
from covey.core.ids import DeliveryId, MessageId
from covey.core.message import Message
from covey.core.replay import Replay
from covey.core.ticket import Ticket
from covey.ports.store import Transaction
from covey.services.audit_books import Books
from covey.services.audit_tasks import message_post_faults, message_task_faults


async def message_faults(
    tx: Transaction, replay: Replay, books: Books, message_id: MessageId, deliveries: Sequence[DeliveryId]
) -> AsyncIterator[Disagreement]:
    """Examine one message, and enter its records into the books."""
    message = await tx.messages.get(message_id)
    if message is None:
        yield Disagreement("message", message_id, "one, because it was sent", "none")
        return
    copies = await tx.deliveries.of_message(message.id)
    async for fault in _copies(tx, replay, books, message, copies, deliveries):
        yield fault
    async for fault in message_task_faults(tx, replay, books, message, copies):
        yield fault
    async for fault in message_post_faults(tx, replay, copies):
        yield fault
    for ticket in await tx.tickets.of_message(message_id):
        books.enter_ticket(ticket)
        account = replay.tickets.get(ticket.id)
        for fault in differing("ticket", ticket.id, account, ticket_account(ticket)):
            yield fault
        async for fault in _ticket(tx, message, ticket):
            yield fault


async def _copies(
    tx: Transaction,
    replay: Replay,
    books: Books,
    message: Message,
    copies: Sequence[Delivery],
    deliveries: Sequence[DeliveryId],
) -> AsyncIterator[Disagreement]:
    for fault in (
        *differing("deliveries", message.id, list(deliveries), [copy.id for copy in copies]),
        *copies_faults(message, copies),
        *debtors_faults(message, copies, await tx.tickets.of_message(message.id)),
        *number_faults(books.numbers, copies),
    ):
        yield fault
    for copy in copies:
        books.enter_delivery(copy)
        offer = await tx.offers.get(copy.offer) if copy.offer is not None else None
        for fault in (
            *differing("delivery", copy.id, replay.deliveries.get(copy.id), delivery_account(copy)),
            *delivery_faults(copy, message, offer),
        ):
            yield fault


async def _ticket(tx: Transaction, request: Message, ticket: Ticket) -> AsyncIterator[Disagreement]:
    answer = await tx.messages.get(ticket.answer) if ticket.answer is not None else None
    if ticket.answer is not None and answer is None and await tx.pruned.has(ticket.answer):
        ticket = ticket._replace(answer=None)  # a long thread is pruned in parts, newest first
    awaited = await tx.tickets.get(ticket.awaits) if ticket.awaits is not None else None
    for fault in ticket_faults(ticket, request, answer, awaited):
        yield fault
