"""Moving a task: what the verbs say after it has moved."""

from covey.core.task import Task
from covey.surfaces.cli.call import Call
from covey.surfaces.cli.letters import one_line
from covey.surfaces.cli.tasks.document import task_document
from covey.surfaces.cli.tasks.naming import name_of, number_of


def show_move(call: Call, task: Task, said: str = "") -> None:
    """Say how a task stands now that it has moved."""
    if call.output.as_json:
        view = call.run(call.services.tasks.view(task.id))
        call.output.json(task_document(view, call.run(number_of(call.services, task))))
        return
    name = call.run(name_of(call.services, task))
    reason = f": {one_line(task.reason)}" if task.reason else ""
    call.output.text(f"{name}: {said}" if said else f"{name} is {task.state}{reason}.")
