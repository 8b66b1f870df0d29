"""Deciding on a task: no is a rejection with its reason; yes accepts it."""

from covey.core.approval import Decision
from covey.core.errors import Invalid
from covey.core.identity import Identity
from covey.core.ids import MessageId
from covey.core.task import TaskState
from covey.surfaces.cli.call import Call
from covey.surfaces.cli.exits import DONE, REJECTED
from covey.surfaces.cli.tasks.moving import show_move


def decide_task(call: Call, task_id: MessageId, actor: Identity, decision: Decision) -> int:
    """Say yes or no to a task that nobody has accepted yet."""
    duties = call.services.duties
    if decision.approve:
        task = call.run(duties.accept(task_id, actor))
        show_move(call, task)
        return REJECTED if task.state is TaskState.REJECTED else DONE
    if not decision.reason.strip():
        raise Invalid("--reason", decision.reason or None, "say why you reject it")
    show_move(call, call.run(duties.reject(task_id, actor, decision.reason.strip())))
    return DONE
