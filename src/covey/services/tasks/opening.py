"""The start of a task: its message is accepted, and the task is pending, or rejected if its agent can't take it."""

from covey.core.directory.card import TaskOverflow
from covey.core.directory.routing import Recipient, Refusal, RefusalCode
from covey.core.ids import MessageId
from covey.core.ledger.delivery import Delivery, DeliveryState
from covey.core.ledger.message import Message
from covey.core.work.task import Task, TaskState
from covey.ports.store import Transaction
from covey.services.act import Act
from covey.services.tasks.open_tasks import taken_places, waiting_tasks


async def task_refusal(act: Act, recipient: Recipient) -> Refusal | None:
    """Return why an agent has no room for one more task, or None. If tasks may not queue, waiting tasks count too."""
    quota = recipient.card.quota
    if quota == 0:
        return Refusal(RefusalCode.OVER_QUOTA, f"{recipient.agent} takes no tasks (its quota is 0)")
    if recipient.card.overflow is TaskOverflow.QUEUE:
        return None
    held = await taken_places(act.tx, recipient.agent, quota, act.now)
    taken = held + await waiting_tasks(act.tx, recipient.agent, quota, act.now)
    if taken < quota:
        return None
    return Refusal(RefusalCode.OVER_QUOTA, f"{recipient.agent} has {taken} of {quota} tasks and queues none")


async def open_task(act: Act, message: Message, delivery: Delivery) -> None:
    """Record the task that a message hands over. A refused task is rejected from the start, as the receipt says."""
    await act.tx.tasks.put(new_task(message, delivery)._replace(parent=await parent_of(act.tx, message)))


def new_task(message: Message, delivery: Delivery) -> Task:
    """Return a new task, without its parent."""
    if delivery.agent is None:
        raise RuntimeError(f"task {message.id} goes to nobody")
    is_refused = delivery.state is not DeliveryState.QUEUED
    return Task(
        id=message.id,
        delegator=message.sender.agent,
        agent=delivery.agent,
        state=TaskState.REJECTED if is_refused else TaskState.PENDING,
        created_at=message.created_at,
        updated_at=message.created_at,
        delegator_session=message.sender.session,
        scope=message.scope,
        deadline=message.deadline,
        reason=delivery.reason if is_refused else None,
        finished_at=message.created_at if is_refused else None,
    )


async def parent_of(tx: Transaction, message: Message) -> MessageId | None:
    """Return the parent of a task: the task that its message relays, or that the relayed message is about."""
    cause = await tx.messages.get(message.cause) if message.cause is not None else None
    if cause is None:
        return None
    if await tx.tasks.get(cause.id) is not None:
        return cause.id
    about = MessageId(cause.task.id) if cause.task is not None else None
    return about if about is not None and await tx.tasks.get(about) is not None else None
