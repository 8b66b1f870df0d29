"""The current state of records: deliveries, tickets and tasks at a given time, before the effects of time have been
written.

Every view that shows a state reads through here. A read changes nothing, so that an expired lease or date is judged
when it is read."""

from collections.abc import Iterable, Sequence
from datetime import datetime

from covey.core.ledger.delivery import DeliveryRecord, DeliveryState, delivery_at
from covey.core.ledger.message import Message
from covey.core.ledger.ticket import Ticket, may_get_trouble, ticket_at
from covey.core.names import MessageId
from covey.core.work.task import MESSAGE_EXPIRED, Task, TaskMove, TaskState, task_at, task_moved
from covey.ports.store import Transaction


async def copies_by_now(tx: Transaction, message_id: MessageId, now: datetime) -> tuple[DeliveryRecord, ...]:
    """Return the deliveries of a message as they are at `now`."""
    return tuple([delivery_at(copy, now) for copy in await tx.deliveries.of_message(message_id)])


async def ticket_by_now(tx: Transaction, ticket: Ticket, now: datetime) -> Ticket:
    """Return a ticket with the trouble that its request has at `now`."""
    return ticket_at(ticket, await copies_by_now(tx, ticket.message_id, now)) if may_get_trouble(ticket) else ticket


async def tickets_by_now(tx: Transaction, tickets: Iterable[Ticket], now: datetime) -> Sequence[Ticket]:
    """Return tickets, each with the trouble that its request has at `now`."""
    return [await ticket_by_now(tx, ticket, now) for ticket in tickets]


async def task_by_now(tx: Transaction, task: Task, message: Message, now: datetime) -> Task:
    """Return a task as it is at `now`: failed if its deadline has passed, or if its message expired before it was
    taken."""
    seen = task_at(task, now)
    expires_at = message.expires_at
    if seen.state is not TaskState.PENDING or expires_at is None or now < expires_at:
        return seen
    copies = await copies_by_now(tx, task.id, now)
    if all(copy.state is DeliveryState.EXPIRED for copy in copies):
        return task_moved(seen, TaskMove.LAPSE, expires_at, MESSAGE_EXPIRED)
    return seen
