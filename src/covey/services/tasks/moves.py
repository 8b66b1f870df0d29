"""Moves of a task: its record, the journal, and the update that tells its delegator, in one transaction."""

from covey.core.identity import THE_SPACE
from covey.core.ids import MessageId, inbox_topic, message_topic, parked_inbox
from covey.core.ledger.delivery import WAITING, DeliveryState, Move
from covey.core.ledger.event import Action
from covey.core.ledger.message import Message, Part, TaskRef, TextPart
from covey.core.text.hidden import unbroken
from covey.core.work.task import CANCELLED, DEADLINE, MESSAGE_EXPIRED, Task, TaskMove, task_moved
from covey.services.act import Act, journal, shift
from covey.services.known import known_message
from covey.services.mail.notices import tell_of
from covey.services.mail.updates import NoticePorts, Told


async def shift_task(
    act: Act, task: Task, move: TaskMove, desk: NoticePorts, parts: tuple[Part, ...] = (), reason: str | None = None
) -> Task:
    """Move a task along its table, tell its delegator, and journal it. `parts` are what is told; without any, what
    happened is put into words. Whoever had it and did not end it itself is told too."""
    after = task_moved(task, move, act.now, reason)
    message = await known_message(act.tx, task.id)
    said = parts or (TextPart(_in_words(after, move)),)
    ref = TaskRef(task.id, after.state)
    # What a delegator or time did is told by the space: nobody writes to itself.
    is_by_worker = act.actor.agent == task.agent and move not in (TaskMove.CANCEL, TaskMove.LAPSE)
    sender = act.actor if is_by_worker else THE_SPACE
    told = Told(task.delegator, task.delegator_session, said, ref)
    update = await tell_of(act, message, told, sender, desk.ids, desk.liveness)
    if move is TaskMove.PROGRESS:
        await _outdate_progress(act, task, update)
        after = after._replace(progress=update.id)
    if after.is_finished:
        after = after._replace(result=update.id)
    await act.tx.tasks.put(after)
    await journal(
        act,
        Action.TASK_MOVED,
        message_id=task.id,
        agent=task.agent,
        scope=task.scope,
        **{"from": str(task.state), "move": str(move), "to": str(after.state)},
        reason=reason,
        update=update.id,
        attempt=task.attempt,
        session=task.claimed_by,
    )
    act.tx.ring(message_topic(task.id))
    if after.is_finished:
        await _finish(act, task, after, message, is_by_worker, desk)
        if task.parent is None and update.callback is not None:
            from covey.services.tasks.callbacks import route_result  # here because few tasks come from a conversation

            await route_result(act, update, desk.ids, desk.liveness)
    return after


async def _finish(act: Act, task: Task, after: Task, message: Message, is_by_worker: bool, desk: NoticePorts) -> None:
    """Put the task's message away; tell who had it where it was ended by others; wake who waits for a free place."""
    for copy in await act.tx.deliveries.of_message(task.id):
        if copy.state in WAITING:
            await shift(act, copy, Move.SETTLE, f"the task is {after.state}")
    if not is_by_worker and task.is_held:
        text = f"Stop working on task {task.id}: it is {after.state} ({unbroken(after.reason or after.state)})."
        told = Told(task.agent, task.claimed_by, (TextPart(text),), TaskRef(task.id, after.state))
        await tell_of(act, message, told, THE_SPACE, desk.ids, desk.liveness)
    if task.progress is not None:
        from covey.services.tasks.progress import forget_progress  # here because most tasks tell none

        await forget_progress(act, task)
    act.tx.ring(inbox_topic(parked_inbox(task.agent)))


async def _outdate_progress(act: Act, task: Task, newer: Message) -> None:
    """Supersede older progress messages that have not been shown yet."""
    older = await act.tx.deliveries.of_message(task.progress) if task.progress is not None else ()
    for copy in older:
        if copy.state is DeliveryState.QUEUED:
            await shift(act, copy, Move.SUPERSEDE, f"superseded by {newer.id}")


def _in_words(task: Task, move: TaskMove) -> str:
    if task.reason:
        return f"Your task to {task.agent} is {task.state}: {unbroken(task.reason)}"
    return f"Your task to {task.agent} is {task.state}." if move is not TaskMove.PROGRESS else "Still working."


async def mend_tasks(act: Act, limit: int, desk: NoticePorts) -> int:
    """Fail what is past its deadline, and tell of what is abandoned; return how many there were, up to the limit."""
    due = await act.tx.tasks.due(act.now, limit)
    for task in due:
        await shift_task(act, task, TaskMove.LAPSE, desk, reason=DEADLINE)
    untold = await act.tx.tasks.untold(limit)
    for task in untold:
        await _tell_abandoned(act, task, desk)
    return len(due) + len(untold)


async def cancel_task(act: Act, task_id: MessageId, desk: NoticePorts, why: str = "") -> Task | None:
    """Cancel a task that is not finished; None where there is none."""
    task = await act.tx.tasks.get(task_id)
    if task is None or task.is_finished:
        return None
    return await shift_task(act, task, TaskMove.CANCEL, desk, reason=f"{CANCELLED}: {why}" if why else CANCELLED)


async def expire_task(act: Act, task_id: MessageId, desk: NoticePorts) -> None:
    """Fail a task whose message expired before anybody took it."""
    task = await act.tx.tasks.get(task_id)
    if task is not None and not task.is_finished:
        await shift_task(act, task, TaskMove.LAPSE, desk, reason=MESSAGE_EXPIRED)


async def _tell_abandoned(act: Act, task: Task, desk: NoticePorts) -> None:
    """Tell the delegator that nobody works on its task at the moment."""
    message = await known_message(act.tx, task.id)
    text = f"The session of {task.agent} that worked on your task has ended. It waits for the next one."
    told = Told(task.delegator, task.delegator_session, (TextPart(text),), TaskRef(task.id, task.state))
    await tell_of(act, message, told, THE_SPACE, desk.ids, desk.liveness)
    await act.tx.tasks.put(task._replace(is_told=True))
