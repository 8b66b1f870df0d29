"""delegate_task: hand work to another agent. Its progress and its result come as messages."""

from datetime import timedelta
from typing import Final

from covey.core.errors import Invalid
from covey.core.ledger.message import Part, TextPart
from covey.core.times import format_instant
from covey.core.work.task import TaskState
from covey.services.tasks.tasks import TaskView
from covey.toolkits.arguments import given_text, given_texts
from covey.toolkits.tasks import ALONE, Work, hand_over
from covey.toolkits.tool import Answer, Arguments, Caller, Form, Parameter, Tool
from covey.toolkits.wording import said

LONGEST_MINUTES: Final = 366 * 24 * 60.0


async def _run(caller: Caller, arguments: Arguments) -> Answer:
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
    work = Work(tuple(parts), deadline)
    return await _answer(caller, await hand_over(caller, str(arguments["to"]), work, for_task, DELEGATE_TASK.name))


async def _answer(caller: Caller, view: TaskView) -> Answer:
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
        return Answer(f"{task.agent} does not get it: {said(task.reason or '')}.", data, is_error=True)
    is_there = (await caller.services.directory.agent(task.agent)).sessions
    offline = "" if is_there else f" {task.agent} is offline now: it waits."
    part = f", a part of task {task.parent}" if task.parent is not None else ""
    told = f"{task.agent} has task {task.id}{part}.{offline} Its updates and its result come to your inbox."
    return Answer(told, data)


DELEGATE_TASK: Final = Tool(
    name="delegate_task",
    description=(
        "Hand work to an agent. You don't wait: its yes or no, progress and result come to your inbox. While you work "
        "on a task, the new one is a part of it."
    ),
    parameters=(
        Parameter("to", "name of the agent", is_required=True),
        Parameter("text", "all that it needs to know to do it", is_required=True),
        Parameter("deadline_minutes", "how long it may take", Form.NUMBER),
        Parameter("files", "paths of files to send along", Form.TEXTS),
        Parameter("for_task", f"number of the task or message that this is for, or {ALONE}", Form.MESSAGE),
    ),
    run=_run,
)
