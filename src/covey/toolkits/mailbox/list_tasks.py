"""list_tasks: the tasks that the caller is to do, or has delegated."""

from typing import Final

from covey.core.formats.mailbox_document import mailbox_document
from covey.core.json import Json, to_json
from covey.core.text.data import harmless_data
from covey.core.times import format_instant
from covey.core.work.task import FINISHED, TaskState
from covey.ports.work import TaskFilter
from covey.services.tasks.tasks import TaskView
from covey.toolkits.answers import as_json
from covey.toolkits.mailbox.documents import task_document
from covey.toolkits.tasks import number_of
from covey.toolkits.tool import Answer, Arguments, Caller, Parameter, Tool

MINE: Final = "mine"
DELEGATED: Final = "delegated"

MANY: Final = 500
"""The number of tasks that are searched; the newest ones."""

ROOM: Final = 24 * 1024
"""The maximal number of characters of one answer, unless the first task alone takes more."""


async def _run(caller: Caller, arguments: Arguments) -> Answer:
    me = caller.identity.agent
    is_mine = arguments.get("role", MINE) == MINE
    state = TaskState(str(arguments["state"])) if "state" in arguments else None
    wanted = TaskFilter(
        agent=me if is_mine else None,
        delegator=None if is_mine else me,
        is_finished=state in FINISHED,
    )
    found = await caller.services.tasks.find(wanted, MANY)
    views = [view for view in found if state is None or view.task.state is state]
    shown: list[Json] = []
    room = ROOM
    for view in views:
        entry = harmless_data(await _entry(caller, view, is_mine))
        room -= len(to_json(entry))
        if shown and room < 0:
            break
        shown.append(entry)
    left = len(views) - len(shown)
    return as_json({"tasks": shown, "left_out": left} if left else {"tasks": shown})


async def _entry(caller: Caller, view: TaskView, is_mine: bool) -> Json:
    """Return a task with its result, if there is one."""
    task = view.task
    entry: dict[str, Json] = {**task_document(view), "updated_at": format_instant(task.updated_at)}
    if is_mine:
        entry["number"] = await number_of(caller, task.id)
        entry["is_yours"] = task.claimed_by == caller.identity.session and task.is_held
    if task.result is not None:
        entry["result"] = mailbox_document(await caller.services.mail.message(task.result))["content"]
    return entry


LIST_TASKS: Final = Tool(
    name="list_tasks",
    description=(
        "List the tasks that you are to do (mine, the default) or have delegated, oldest first: those that are not "
        "finished, or those in one state. Finished ones come with their result."
    ),
    parameters=(
        Parameter("role", "whose tasks", choices=(MINE, DELEGATED)),
        Parameter("state", "only those in this state", choices=tuple(str(state) for state in TaskState)),
    ),
    run=_run,
    is_read_only=True,
)
