"""Task release: the tasks of an ended session wait for the next one."""

from covey.core.event import Action
from covey.core.ids import SessionId, inbox_topic, message_topic, parked_inbox
from covey.core.session import Session
from covey.core.task import Task, abandoned
from covey.services.act import Act, journal


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
