"""update_task: report on a task."""

from typing import Final

from covey.core.errors import Invalid
from covey.core.ledger.message import Part, TextPart
from covey.core.work.task import TaskState
from covey.toolkits.arguments import given_text, given_texts
from covey.toolkits.tasks import REASON_CHARS, REASONED, STATES, update
from covey.toolkits.tool import Answer, Arguments, Caller, Form, Parameter, Tool
from covey.toolkits.wording import clipped, said


async def _run(caller: Caller, arguments: Arguments) -> Answer:
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
        return Answer(f"It is {task.state}: {said(task.reason or '')}.", data, is_error=True)
    other = task.delegator if task.agent == caller.identity.agent else task.agent
    return Answer(f"The task is {task.state}; {other} is told.", data)


UPDATE_TASK: Final = Tool(
    name="update_task",
    description=(
        "Report on a task that you were given; its sender is told. First accepted or rejected; then working, with "
        "your progress; completed, with the result. failed also takes back a task that you delegated."
    ),
    parameters=(
        Parameter("task", "number or id of the task", Form.MESSAGE, is_required=True),
        Parameter("state", "its new state", is_required=True, choices=STATES),
        Parameter("text", "the result, the progress, or why it is rejected or failed"),
        Parameter("files", "paths of files to hand in", Form.TEXTS),
    ),
    run=_run,
)
