"""Tasks in the form of mailboxes, for a model: each with its present state."""

from covey.core.formats.mailbox_document import mailbox_document
from covey.core.json import Json
from covey.core.times import format_instant
from covey.services.tasks.tasks import TaskView


def task_document(view: TaskView) -> dict[str, Json]:
    """Return the message that handed a task over, with the task's present state."""
    task = view.task
    now: dict[str, Json] = {
        "id": task.id,
        "state": str(task.state),
        "deadline": format_instant(task.deadline) if task.deadline else None,
    }
    if task.reason is not None:
        now["reason"] = task.reason
    return {**mailbox_document(view.message), "task": now}
