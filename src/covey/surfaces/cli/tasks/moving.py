"""Moves of a task: the output of verbs after a move."""

from covey.core.errors import Invalid
from covey.core.identity import Identity
from covey.core.ids import MessageId
from covey.core.work.approval import Decision
from covey.core.work.task import Task, TaskState
from covey.surfaces.cli.call import Call
from covey.surfaces.cli.exits import DONE, REJECTED
from covey.surfaces.cli.tasks.document import task_document
from covey.surfaces.cli.tasks.naming import name_of, number_of
from covey.surfaces.cli.terminal.letters import one_line


def show_move(call: Call, task: Task, said: str = "") -> None:
    """Show the state of a task after a move."""
    if call.output.as_json:
        view = call.run(call.services.tasks.view(task.id))
        call.output.json(task_document(view, call.run(number_of(call.services, task))))
        return
    name = call.run(name_of(call.services, task))
    reason = f": {one_line(task.reason)}" if task.reason else ""
    call.output.text(f"{name}: {said}" if said else f"{name} is {task.state}{reason}.")


def decide_task(call: Call, task_id: MessageId, actor: Identity, decision: Decision) -> int:
    """Accept or reject a pending task."""
    duties = call.services.duties
    if decision.approve:
        task = call.run(duties.accept(task_id, actor))
        show_move(call, task)
        return REJECTED if task.state is TaskState.REJECTED else DONE
    if not decision.reason.strip():
        raise Invalid("--reason", decision.reason or None, "say why you reject it")
    show_move(call, call.run(duties.reject(task_id, actor, decision.reason.strip())))
    return DONE
