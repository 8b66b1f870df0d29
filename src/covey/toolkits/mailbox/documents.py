"""Tasks in the form of mailboxes, as a model reads them: with the state that each has now."""

from collections.abc import Mapping, Sequence
from typing import cast

from covey.core.json import Json
from covey.core.mailbox_document import mailbox_document
from covey.core.render_escape import harmless
from covey.core.times import format_instant
from covey.services.tasks import TaskView


def task_document(view: TaskView) -> dict[str, Json]:
    """Return the message that handed a task over, with how the task is now."""
    task = view.task
    now: dict[str, Json] = {
        "id": task.id,
        "state": str(task.state),
        "deadline": format_instant(task.deadline) if task.deadline else None,
    }
    if task.reason is not None:
        now["reason"] = task.reason
    return {**mailbox_document(view.message), "task": now}


def harmless_json(value: Json) -> Json:
    """Return data with every text in it made harmless: it may be another's."""
    if isinstance(value, str):
        return harmless(value)
    if isinstance(value, Mapping):
        return {harmless(name): harmless_json(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [harmless_json(item) for item in cast(Sequence[Json], value)]
    return value
