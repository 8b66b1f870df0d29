"""Tasks of a model: resolving the one it names, delegating work, and reporting on a task."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from typing import Final, NamedTuple

from covey.core.errors import IllegalMove, Invalid, TaskUnknown
from covey.core.identity import Address, AddressKind
from covey.core.json import Json
from covey.core.ledger.draft import Draft
from covey.core.ledger.message import Callback, Kind, Part, body_of
from covey.core.names import MessageId
from covey.core.work.task import Task, TaskMove, TaskState, ahead_of, moves_to
from covey.services.mail.recipients import SendPolicy
from covey.services.tasks.tasks import TaskView
from covey.toolkits.agents import other_agent
from covey.toolkits.answers import said
from covey.toolkits.references import message_of, was_named
from covey.toolkits.tool import Caller

STATES: Final = tuple(str(state) for state in TaskState if state is not TaskState.PENDING)
"""The states that a model can report."""

TASK_WAY: Final = (
    "update_task(task={number}, state=…): accepted or rejected first; then completed with the result, or failed"
)
"""The instructions for tasks to a model that has update_task."""

REASONED: Final = (TaskState.FAILED, TaskState.REJECTED)
"""States that need a reason."""

REASON_CHARS: Final = 1000
"""The number of characters of the text that become the reason, if no other is given."""

ALONE: Final = "none"
"""Marks work that is part of no task."""

WORDS: Final = 60
"""The number of characters of a task's text in a sentence."""


class WorkOrder(NamedTuple):
    """The work that a model delegates."""

    parts: tuple[Part, ...]
    deadline: datetime | None = None
    callback: Callback | None = None
    metadata: Mapping[str, Json] = {}


class _Purpose(NamedTuple):
    """The purpose of delegated work."""

    task: MessageId | None = None
    """The task that the work is part of. The work spends one of its hops, and its result belongs to the same
    conversation."""
    named: MessageId | None = None
    """The message that the model named."""
    callback: Callback | None = None


async def hand_over(caller: Caller, to: str, work: WorkOrder, for_task: str | None, tool: str) -> TaskView:
    """Delegate work. While the caller works on one task, the work is a part of it; with several tasks the model must
    name one."""
    agent = await other_agent(caller, to, "to")
    purpose = await _purpose(caller, for_task)
    draft = Draft(
        Kind.TASK,
        (Address(AddressKind.AGENT, agent),),
        work.parts,
        relaying=purpose.task,
        callback=work.callback or purpose.callback,
        deadline=work.deadline,
        metadata=work.metadata,
    )
    view = await caller.services.tasks.delegate(draft, caller.identity, SendPolicy())
    if purpose.named is not None:
        await was_named(caller, purpose.named, tool)
    return view


async def _purpose(caller: Caller, for_task: str | None) -> _Purpose:
    if for_task is not None:
        return _Purpose() if for_task.strip().lower() == ALONE else await _named_purpose(caller, for_task)
    views = await caller.services.duties.in_hand(caller.identity)
    mine = [view for view in views if view.task.is_active] or views
    if len(mine) > 1:
        tasks = "; ".join(await described(caller, mine))
        raise Invalid("for_task", None, f"you have {tasks}: say which one this is a part of, or {ALONE}")
    return _Purpose(task=mine[0].task.id) if mine else _Purpose()


async def _named_purpose(caller: Caller, reference: str) -> _Purpose:
    """Return the purpose that the model names: a task of its own, or any other message, whose conversation gets the
    result."""
    message = await caller.services.mail.message(await message_of(caller, reference, "for_task"))
    if message.kind is not Kind.TASK:
        return _Purpose(named=message.id, callback=message.callback)
    if (await caller.services.tasks.view(message.id)).task.agent != caller.identity.agent:
        raise Invalid("for_task", reference, "name a task that is yours to do")
    return _Purpose(task=message.id, named=message.id)


async def update(
    caller: Caller, reference: str, state: TaskState, parts: tuple[Part, ...], why: str, tool: str
) -> Task:
    """Report a task's new state. Skipped moves are made too, and each is reported; the parts go with the last one. A
    delegator cancels a task with failed."""
    task = (await _named(caller, reference)).task
    me = caller.identity
    if task.delegator == me.agent != task.agent:
        if state is not TaskState.FAILED:
            raise Invalid("state", str(state), f"{task.agent} does that task; you can take it back with failed")
        task = await caller.services.tasks.cancel(task.id, me, why)
    else:
        moves = _moves(task, state, reference)
        for move in moves:
            task = await _make(caller, task.id, move, parts if move is moves[-1] else (), why)
            if task.state is TaskState.REJECTED:  # its agent must not accept it
                break
    await was_named(caller, task.id, tool)
    return task


def _moves(task: Task, state: TaskState, reference: str) -> Sequence[TaskMove]:
    try:
        return moves_to(task.state, state)
    except IllegalMove as error:
        if task.is_finished:
            raise
        can_become = " or ".join(str(after) for after in ahead_of(task.state))
        raise Invalid("state", str(state), f"task {reference} is {task.state}, and can become {can_become}") from error


async def _make(caller: Caller, task_id: MessageId, move: TaskMove, parts: tuple[Part, ...], why: str) -> Task:
    duties, me = caller.services.duties, caller.identity
    if move is TaskMove.ACCEPT:
        return await duties.accept(task_id, me, parts)
    if move is TaskMove.REJECT:
        return await duties.reject(task_id, me, why, parts)
    if move is TaskMove.START:
        return await duties.start(task_id, me, parts=parts)
    if move is TaskMove.PROGRESS:
        return await duties.progress(task_id, me, parts)
    if move is TaskMove.COMPLETE:
        return await duties.complete(task_id, me, parts)
    return await duties.fail(task_id, me, why, parts)


async def _named(caller: Caller, reference: str) -> TaskView:
    task_id = await message_of(caller, reference, "task")
    try:
        return await caller.services.tasks.view(task_id)
    except TaskUnknown:
        tasks = "; ".join(await described(caller, await caller.services.duties.in_hand(caller.identity)))
        raise Invalid("task", reference, f"it is not a task; your tasks: {tasks or 'none'}") from None


async def check_no_task(caller: Caller, message_id: MessageId, reference: str) -> None:
    """Raise Invalid for an unfinished task of the caller: it can't be put away, because its delegator waits for it."""
    with suppress(TaskUnknown):
        task = (await caller.services.tasks.view(message_id)).task
        if not task.is_finished and task.agent == caller.identity.agent:
            way = f"update_task(task={reference}, state=rejected or failed)"
            raise Invalid("message", reference, f"it is a task that {task.delegator} waits for: use {way}")


async def number_of(caller: Caller, task_id: MessageId) -> int | None:
    """Return the number that a task has in the inbox of the caller's agent."""
    receipt = await caller.services.mail.receipt(task_id)
    return next((copy.number for copy in receipt.deliveries if copy.agent == caller.identity.agent), None)


async def described(caller: Caller, views: Sequence[TaskView]) -> Sequence[str]:
    """Return a few words about each of the caller's tasks: its number, state, delegator and text."""
    return [
        f"#{await number_of(caller, view.task.id)} {view.task.state}, from {view.task.delegator}{_due(view.task)}: "
        f'"{said(body_of(view.message), WORDS)}"'
        for view in views
    ]


def _due(task: Task) -> str:
    return f", due {task.deadline.isoformat(timespec='seconds')}" if task.deadline is not None else ""
