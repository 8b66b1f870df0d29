"""The listing of tasks, for people."""

from collections.abc import Sequence
from datetime import datetime

from covey.core.ledger.message import Message
from covey.core.work.task import Task
from covey.services.tasks.tasks import TaskView
from covey.surfaces.cli.call import Call
from covey.surfaces.cli.options.when import age
from covey.surfaces.cli.tasks.naming import number_of
from covey.surfaces.cli.terminal.letters import one_line
from covey.surfaces.cli.views.headline import about


def show_tasks(call: Call, views: Sequence[TaskView], nothing: str) -> None:
    """Show tasks as a table, or say that there are none."""
    now = call.services.clock.now()
    call.output.table(
        ("task", "state", "from", "age", "due", "what", "id"),
        [
            (
                _name(call, view.task),
                str(view.task.state),
                view.task.delegator,
                age(view.task.created_at, now),
                due(view.task, now),
                what(view),
                view.task.id,
            )
            for view in views
        ],
        nothing,
    )


def _name(call: Call, task: Task) -> str:
    """Return the short name of a task, or its agent if it has no number. The table shows the id as well."""
    number = call.run(number_of(call.services, task))
    return f"{task.agent}:{number}" if number else task.agent


def who(task: Task) -> str:
    """Return the delegator and the agent of a task."""
    return f"{task.delegator} → {task.agent}"


def due(task: Task, now: datetime) -> str:
    """Return the time until the deadline, or "" if the task is finished or has none."""
    return "" if task.deadline is None or task.is_finished else age(now, task.deadline)


def title(message: Message) -> str:
    """Return a task on one line: its topic and its text."""
    return ": ".join(filter(None, (about(message), one_line(message.text)))) or "(files only)"


def what(view: TaskView) -> str:
    """Return a task's title, with the reason if it has one."""
    return f"{title(view.message)} ({view.task.reason})" if view.task.reason else title(view.message)
