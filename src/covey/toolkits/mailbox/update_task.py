"""update_task: say what has become of a task."""

from collections.abc import Sequence
from typing import Final, cast

from covey.core.errors import Invalid
from covey.core.json import Json
from covey.core.parts import text_of
from covey.core.task import TaskState
from covey.toolkits.answers import as_json
from covey.toolkits.given import given_text
from covey.toolkits.mailbox.documents import task_document
from covey.toolkits.mailbox.parts import read_part
from covey.toolkits.tasks import REASON_CHARS, REASONED, STATES, update
from covey.toolkits.tool import Answer, Arguments, Caller, Form, Parameter, Tool
from covey.toolkits.wording import clipped

_NOT_AGAIN: Final = ("content", "metadata")
"""What the model was shown with the task."""


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
        "Say what has become of a task that you were given; its sender is told. First accepted or rejected; working "
        "tells how far you are; completed hands in the result. What lies between is told too: completed alone will do. "
        "A task that you delegated is taken back with failed."
    ),
    parameters=(
        Parameter("task", "number or id of the task", Form.MESSAGE, is_required=True),
        Parameter("state", "what it is now", is_required=True, choices=STATES),
        Parameter("parts", "the result, or how far it is, as in send_message", Form.OBJECTS),
        Parameter("reason", "why it is rejected or failed"),
    ),
    run=_run,
)
