"""Missing task records: found by the waiting mail, and rebuilt from the message and the journal."""

from collections.abc import AsyncIterator

from covey.core.care.task_rebuilding import rebuilt
from covey.core.ledger.delivery import WAITING, Delivery
from covey.core.ledger.event import Event
from covey.core.ledger.message import Kind
from covey.ports.ledger import EventFilter
from covey.ports.store import Transaction
from covey.services.known import known_message
from covey.services.tasks.opening import parent_of

PAGE = 500


async def unrecorded(tx: Transaction) -> AsyncIterator[Delivery]:
    """Iterate over the waiting deliveries of tasks that have no record. The cost grows with the waiting mail."""
    for inbox in await tx.inboxes.occupied():
        after = 0
        while page := await tx.inboxes.waiting(inbox, WAITING, after):
            after = page[-1].seq
            for delivery in page:
                if is_task(delivery) and await tx.tasks.get(delivery.message_id) is None:
                    yield delivery


def is_task(delivery: Delivery) -> bool:
    """Tell whether a delivery waits and hands a task over to an agent. Such a task has a record."""
    return delivery.kind is Kind.TASK and delivery.state in WAITING and delivery.agent is not None


async def record_task(tx: Transaction, delivery: Delivery) -> None:
    """Rebuild the missing record of a task. No event is journalled, because nothing new has happened."""
    if delivery.agent is None or await tx.tasks.get(delivery.message_id) is not None:
        return
    message = await known_message(tx, delivery.message_id)
    events = [event async for event in _events(tx, EventFilter(message_id=message.id))]
    await tx.tasks.put(rebuilt(message, delivery.agent, await parent_of(tx, message), events))


async def _events(tx: Transaction, wanted: EventFilter) -> AsyncIterator[Event]:
    after = 0
    while page := await tx.journal.read(after, PAGE, wanted):
        for event in page:
            yield event
        after = page[-1].position
