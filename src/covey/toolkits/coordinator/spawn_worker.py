"""SpawnWorker: start a worker for a piece of work."""

from typing import Final

from covey.core.errors import Invalid
from covey.core.names import parse_label
from covey.core.work.run import RunMode
from covey.services.children.request import SpawnRequest
from covey.toolkits.answers import as_json
from covey.toolkits.arguments import given_text
from covey.toolkits.children import child_agent, start_child
from covey.toolkits.tool import Answer, Arguments, Caller, Form, Parameter, Tool


async def _run(caller: Caller, arguments: Arguments) -> Answer:
    task, label = given_text(arguments, "task"), given_text(arguments, "worker")
    if task is None:
        raise Invalid("task", "", "say what the worker is to do")
    stays = arguments.get("stays") is True
    wish = SpawnRequest(
        task,
        await child_agent(caller, given_text(arguments, "agent")),
        RunMode.SESSION if stays else RunMode.RUN,
        thread=stays,
        label=None if label is None else parse_label(label.strip()),
    )
    run = await start_child(caller, wish)
    worker = str(run.label or run.key)
    note = "It works. Its result comes as a task-notification."
    return as_json(
        {"status": "accepted", "worker": worker, "childSessionKey": str(run.key), "runId": run.id, "note": note}
    )


SPAWN_WORKER: Final = Tool(
    name="SpawnWorker",
    description="Start a worker for a piece of work. You don't wait: its result comes to you as a task-notification.",
    parameters=(
        Parameter("task", "all that it needs to know: it sees nothing of your conversation", is_required=True),
        Parameter("worker", "a name of your choice for it"),
        Parameter("agent", "name of the agent to start; left out, one like you"),
        Parameter("stays", "true: it stays to be continued, in a conversation that people see", Form.FLAG),
    ),
    run=_run,
)
