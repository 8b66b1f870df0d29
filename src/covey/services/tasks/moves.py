"""Moves of a task: its record, the journal, the update for its delegator, and the result for the conversation in which
the task was requested, in one transaction."""

from covey.core.directory.card import Agent
from covey.core.errors import Invalid
from covey.core.identity import THE_SPACE
from covey.core.ledger.delivery import WAITING, DeliveryState, Move
from covey.core.ledger.event import Action
from covey.core.ledger.message import Message, Part, TaskRef, TextPart
from covey.core.names import MessageId, inbox_topic, message_topic, parked_inbox, parse_agent_name
from covey.core.text.hidden import unbroken
from covey.core.work.task import CANCELLED, DEADLINE, MESSAGE_EXPIRED, Task, TaskMove, task_moved
from covey.ports.clock import Ids
from covey.ports.directory import Liveness
from covey.services.act import Act, journal, shift
from covey.services.mail.filing import NoticePorts, UpdateDraft
from covey.services.mail.notices import tell_of
from covey.services.records import known_message


async def shift_task(
    act: Act,
    task: Task,
    move: TaskMove,
    notice_ports: NoticePorts,
    parts: tuple[Part, ...] = (),
    reason: str | None = None,
) -> Task:
    """Move a task along its state table, notify its delegator, and journal the move.

    `parts` are the content of the update; without parts, a sentence describes the move. If a worker has the task and
    another actor ends it, the worker is notified too.
    """
    after = task_moved(task, move, act.now, reason)
    message = await known_message(act.tx, task.id)
    said = parts or (TextPart(_in_words(after, move)),)
    ref = TaskRef(task.id, after.state)
    # The space reports moves by the delegator or by time, because no agent writes to itself.
    is_by_worker = act.actor.agent == task.agent and move not in (TaskMove.CANCEL, TaskMove.LAPSE)
    sender = act.actor if is_by_worker else THE_SPACE
    told = UpdateDraft(task.delegator, task.delegator_session, said, ref)
    update = await tell_of(act, message, told, sender, notice_ports.ids, notice_ports.liveness)
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
        await _finish(act, task, after, message, is_by_worker, notice_ports)
        if task.parent is None and update.callback is not None:
            await route_result(act, update, notice_ports.ids, notice_ports.liveness)
    return after


async def _finish(
    act: Act, task: Task, after: Task, message: Message, is_by_worker: bool, notice_ports: NoticePorts
) -> None:
    """Settle the task's message, tell the worker to stop if another actor ended the task, and wake the sessions that
    wait for a free place."""
    for copy in await act.tx.deliveries.of_message(task.id):
        if copy.state in WAITING:
            await shift(act, copy, Move.SETTLE, f"the task is {after.state}")
    if not is_by_worker and task.is_held:
        text = f"Stop working on task {task.id}: it is {after.state} ({unbroken(after.reason or after.state)})."
        told = UpdateDraft(task.agent, task.claimed_by, (TextPart(text),), TaskRef(task.id, after.state))
        await tell_of(act, message, told, THE_SPACE, notice_ports.ids, notice_ports.liveness)
    if task.progress is not None:
        from covey.services.storms.storms import forget_progress  # imported late because most tasks report no progress

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


async def mend_tasks(act: Act, limit: int, notice_ports: NoticePorts) -> int:
    """Fail overdue tasks, and notify the delegators of abandoned ones: at most `limit` of each.

    Return the number of both.
    """
    due = await act.tx.tasks.due(act.now, limit)
    for task in due:
        await shift_task(act, task, TaskMove.LAPSE, notice_ports, reason=DEADLINE)
    untold = await act.tx.tasks.untold(limit)
    for task in untold:
        await _tell_abandoned(act, task, notice_ports)
    return len(due) + len(untold)


async def cancel_task(act: Act, task_id: MessageId, notice_ports: NoticePorts, why: str = "") -> Task | None:
    """Cancel a task that is not finished. Return None if there is no such task."""
    task = await act.tx.tasks.get(task_id)
    if task is None or task.is_finished:
        return None
    return await shift_task(
        act, task, TaskMove.CANCEL, notice_ports, reason=f"{CANCELLED}: {why}" if why else CANCELLED
    )


async def expire_task(act: Act, task_id: MessageId, notice_ports: NoticePorts) -> None:
    """Fail a task whose message expired before any session took it."""
    task = await act.tx.tasks.get(task_id)
    if task is not None and not task.is_finished:
        await shift_task(act, task, TaskMove.LAPSE, notice_ports, reason=MESSAGE_EXPIRED)


async def _tell_abandoned(act: Act, task: Task, notice_ports: NoticePorts) -> None:
    """Notify the delegator that no session works on its task at present."""
    message = await known_message(act.tx, task.id)
    text = f"The session of {task.agent} that worked on your task has ended. The task waits for the next session."
    told = UpdateDraft(task.delegator, task.delegator_session, (TextPart(text),), TaskRef(task.id, task.state))
    await tell_of(act, message, told, THE_SPACE, notice_ports.ids, notice_ports.liveness)
    await act.tx.tasks.put(task._replace(is_told=True))


async def route_result(act: Act, update: Message, ids: Ids, liveness: Liveness) -> Message | None:
    """Send the last update of a task to the channel that its callback names, and return the filed message.

    The update is expected there, and so passes every rule. Return None if there is no such channel, or if the update
    went there already. Call this in the transaction that finishes the task, so that it happens once.
    """
    channel = await channel_of(act, update)
    if channel is None or any(address.value == channel.name for address in update.to):
        return None
    told = UpdateDraft(channel.name, None, update.parts, update.task)
    return await tell_of(act, update, told, update.sender, ids, liveness)


async def channel_of(act: Act, message: Message) -> Agent | None:
    """Return the channel that a message's callback names; None if it names no channel of the space."""
    if message.callback is None:
        return None
    try:
        name = parse_agent_name(message.callback.channel)
    except Invalid:  # the callback names something outside the space
        return None
    agent = await act.tx.agents.get(name)
    return agent if agent is not None and agent.card.channel else None
