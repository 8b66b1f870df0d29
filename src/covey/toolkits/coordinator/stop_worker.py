"""StopWorker: end a worker that went the wrong way, or is no longer needed."""

from typing import Final

from covey.core.errors import SessionUnknown
from covey.toolkits.answers import as_json, refused
from covey.toolkits.arguments import given_text
from covey.toolkits.coordinator.send_message_to_worker import HINT
from covey.toolkits.coordinator.workers import child_named
from covey.toolkits.tool import Answer, Arguments, Caller, Parameter, Tool
from covey.toolkits.wording import clipped


async def _run(caller: Caller, arguments: Arguments) -> Answer:
    name = str(arguments["worker"]).strip()
    run = await child_named(caller, name)
    if run is None:
        return refused(SessionUnknown(clipped(name)), HINT)
    reason = clipped(given_text(arguments, "reason") or "")
    run = await caller.services.spawning.stop(run.id, caller.identity, reason)
    return as_json({"status": str(run.state), "worker": name, "runId": run.id, "reason": run.reason})


STOP_WORKER: Final = Tool(
    name="StopWorker",
    description="End a worker that you started. What it has made so far comes as its result.",
    parameters=(
        Parameter("worker", "its name, session key or run id", is_required=True),
        Parameter("reason", "why"),
    ),
    run=_run,
)
