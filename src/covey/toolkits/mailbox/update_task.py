"""update_task: report on a task."""

from collections.abc import Sequence
from typing import Final, cast

from covey.core.errors import Invalid
from covey.core.json import Json
from covey.core.ledger.message import text_of
from covey.core.work.task import TaskState
from covey.toolkits.answers import as_json
from covey.toolkits.arguments import given_text
from covey.toolkits.mailbox.documents import task_document
from covey.toolkits.mailbox.parts import read_part
from covey.toolkits.tasks import REASON_CHARS, REASONED, STATES, update
from covey.toolkits.tool import Answer, Arguments, Caller, Form, Parameter, Tool
from covey.toolkits.wording import clipped

_NOT_AGAIN: Final = ("content", "metadata")
"""Fields that the model was shown with the task."""


async def _run(caller: Caller, arguments: Arguments) -> Answer:
    state = TaskState(str(arguments["state"]))
    written = cast(Sequence[Json], arguments.get("parts") or ())
    parts = tuple([await read_part(part, caller.services.attachments) for part in written])
    reason = given_text(arguments, "reason") or clipped(text_of(parts), REASON_CHARS)
    if state in REASONED and not reason.strip():
        raise Invalid("reason", None, f"say why it is {state}")
    task = await update(caller, str(arguments["task"]), state, parts, reason, UPDATE_TASK.name)
    document = task_document(await caller.services.tasks.view(task.id))
    known = {name: value for name, value in document.items() if name not in _NOT_AGAIN}
    return as_json(known, is_error=task.state is not state)


UPDATE_TASK: Final = Tool(
    name="update_task",
    description=(
        "Report on a task that you were given; its sender is told. First accepted or rejected; working reports "
        "progress; completed hands in the result. Skipped states are reported for you: completed alone will do. "
        "With failed you take back a task that you delegated."
    ),
    parameters=(
        Parameter("task", "number or id of the task", Form.MESSAGE, is_required=True),
        Parameter("state", "its new state", is_required=True, choices=STATES),
        Parameter("parts", "the result, or the progress, as in send_message", Form.OBJECTS),
        Parameter("reason", "why it is rejected or failed"),
    ),
    run=_run,
)
