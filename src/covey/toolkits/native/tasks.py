"""delegate_task and update_task: hand work to another agent, and report on a task."""

from datetime import timedelta
from typing import Final

from covey.core.errors import Invalid
from covey.core.ledger.message import Part, TextPart
from covey.core.times import format_instant
from covey.core.work.task import TaskState
from covey.services.tasks.tasks import TaskView
from covey.toolkits.answers import clipped, said
from covey.toolkits.arguments import given_text, given_texts
from covey.toolkits.tasks import ALONE, REASON_CHARS, REASONED, STATES, WorkOrder, hand_over, update
from covey.toolkits.tool import Arguments, Caller, Parameter, ParameterType, Tool, ToolAnswer

LONGEST_MINUTES: Final = 366 * 24 * 60.0


async def _delegate(caller: Caller, arguments: Arguments) -> ToolAnswer:
    text = given_text(arguments, "text")
    if text is None:
        raise Invalid("text", "", "say what is to be done")
    minutes = arguments.get("deadline_minutes")
    if isinstance(minutes, int | float) and not 0 < minutes <= LONGEST_MINUTES:
        raise Invalid("deadline_minutes", minutes, f"use more than 0 and at most {LONGEST_MINUTES:,.0f}")
    parts: list[Part] = [TextPart(text)]
    parts += [await caller.services.attachments.snapshot(path) for path in given_texts(arguments, "files")]
    now = caller.services.clock.now()
    deadline = now + timedelta(minutes=minutes) if isinstance(minutes, int | float) else None
    for_task = given_text(arguments, "for_task")
    work = WorkOrder(tuple(parts), deadline)
    return await _delegation_answer(
        caller, await hand_over(caller, str(arguments["to"]), work, for_task, DELEGATE_TASK.name)
    )


async def _delegation_answer(caller: Caller, view: TaskView) -> ToolAnswer:
    task = view.task
    data = {
        "task": task.id,
        "to": task.agent,
        "state": str(task.state),
        "deadline": format_instant(task.deadline) if task.deadline else None,
        "part_of": task.parent,
        "reason": task.reason,
    }
    if task.state is TaskState.REJECTED:
        return ToolAnswer(f"{task.agent} does not get it: {said(task.reason or '')}.", data, is_error=True)
    is_there = (await caller.services.directory.agent(task.agent)).sessions
    offline = "" if is_there else f" {task.agent} is offline now: it waits."
    part = f", a part of task {task.parent}" if task.parent is not None else ""
    told = f"{task.agent} has task {task.id}{part}.{offline} Its updates and its result come to your inbox."
    return ToolAnswer(told, data)


DELEGATE_TASK: Final = Tool(
    name="delegate_task",
    description=(
        "Hand work to an agent. You don't wait: its yes or no, progress and result come to your inbox. While you work "
        "on a task, the new one is a part of it."
    ),
    parameters=(
        Parameter("to", "name of the agent", is_required=True),
        Parameter("text", "all that it needs to know to do it", is_required=True),
        Parameter("deadline_minutes", "how long it may take", ParameterType.NUMBER),
        Parameter("files", "paths of files to send along", ParameterType.TEXTS),
        Parameter("for_task", f"number of the task or message that this is for, or {ALONE}", ParameterType.MESSAGE),
    ),
    run=_delegate,
)


async def _update(caller: Caller, arguments: Arguments) -> ToolAnswer:
    state = TaskState(str(arguments["state"]))
    text = given_text(arguments, "text") or ""
    if state in REASONED and not text:
        raise Invalid("text", None, f"say why it is {state}")
    parts: list[Part] = [TextPart(text)] if text else []
    parts += [await caller.services.attachments.snapshot(path) for path in given_texts(arguments, "files")]
    why = clipped(text, REASON_CHARS)
    task = await update(caller, str(arguments["task"]), state, tuple(parts), why, UPDATE_TASK.name)
    data = {"task": task.id, "state": str(task.state), "reason": task.reason}
    if task.state is not state:
        return ToolAnswer(f"It is {task.state}: {said(task.reason or '')}.", data, is_error=True)
    other = task.delegator if task.agent == caller.identity.agent else task.agent
    return ToolAnswer(f"The task is {task.state}; {other} is told.", data)


UPDATE_TASK: Final = Tool(
    name="update_task",
    description=(
        "Report on a task that you were given; its sender is told. First accepted or rejected; then working, with "
        "your progress; completed, with the result. failed also takes back a task that you delegated."
    ),
    parameters=(
        Parameter("task", "number or id of the task", ParameterType.MESSAGE, is_required=True),
        Parameter("state", "its new state", is_required=True, choices=STATES),
        Parameter("text", "the result, the progress, or why it is rejected or failed"),
        Parameter("files", "paths of files to hand in", ParameterType.TEXTS),
    ),
    run=_update,
)
