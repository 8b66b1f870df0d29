"""Claims: a task waits with its agent until exactly one session takes it."""

from covey.core.directory.session import Session
from covey.core.ledger.delivery import DeliveryRecord, DeliveryState, state_at
from covey.core.ledger.event import Action
from covey.core.names import SessionId, inbox_topic, message_topic, parked_inbox
from covey.core.work.task import Task, abandoned, claimed
from covey.services.act import Act, journal, place


async def take_claim(act: Act, task: Task, session: SessionId | None) -> Task:
    """Claim a task for a session, or for an actor without one. The task's message stays in its inbox: a program that
    works on the task is not shown the message."""
    after = claimed(task, session, act.now)
    await act.tx.tasks.put(after)
    await journal(
        act,
        Action.TASK_CLAIMED,
        message_id=task.id,
        agent=task.agent,
        scope=task.scope,
        session=after.claimed_by,
        attempt=after.attempt,
    )
    act.tx.ring(message_topic(task.id))
    return after


async def take_parked(act: Act, copy: DeliveryRecord, session: Session) -> DeliveryRecord:
    """Claim the task that a parked delivery hands over for a session. Return the delivery in the session's inbox."""
    task = await act.tx.tasks.get(copy.message_id)
    if task is not None:
        await take_claim(act, task, session.id)
        for parked in await act.tx.deliveries.of_message(task.id):
            if parked.is_parked and state_at(parked, act.now) is DeliveryState.QUEUED:
                await place(act, parked, session.inbox)
    return await act.tx.deliveries.get(copy.id) or copy


def is_left(task: Task) -> bool:
    """Tell whether the session that worked on the task has ended."""
    return task.is_active and task.abandoned_at is not None


async def release_tasks(act: Act, session: Session) -> None:
    """Release the tasks of an ended session. Upkeep notifies their delegators later."""
    for task in await act.tx.tasks.of_session(session.id):
        await release_task(act, task, session.id)


async def release_task(act: Act, task: Task, session_id: SessionId) -> Task:
    """Release one task of a session."""
    after = abandoned(task, act.now)
    await act.tx.tasks.put(after)
    await journal(
        act,
        Action.TASK_RELEASED,
        message_id=task.id,
        agent=task.agent,
        scope=task.scope,
        session=session_id,
        attempt=task.attempt,
        state=str(task.state),
    )
    act.tx.ring(message_topic(task.id))
    act.tx.ring(inbox_topic(parked_inbox(task.agent)))
    return after
