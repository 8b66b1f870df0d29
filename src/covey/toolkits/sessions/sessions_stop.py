"""sessions_stop: end a child. What it has made so far is its result."""

from typing import Final

from covey.core.errors import SessionUnknown
from covey.toolkits.answers import as_json, refused
from covey.toolkits.arguments import given_text
from covey.toolkits.sessions.targets import HINT, LABEL, SESSION_KEY, known_child
from covey.toolkits.tool import Answer, Arguments, Caller, Parameter, Tool
from covey.toolkits.wording import clipped


async def _run(caller: Caller, arguments: Arguments) -> Answer:
    try:
        run = await known_child(caller, arguments)
    except SessionUnknown as error:
        return refused(error, HINT)
    reason = clipped(given_text(arguments, "reason") or "")
    run = await caller.services.spawning.stop(run.id, caller.identity, reason)
    note = "What it made comes to your inbox." if run.has_ended else "It was told to stop, and has not ended yet."
    return as_json(
        {
            "status": str(run.state),
            "childSessionKey": str(run.key),
            "runId": run.id,
            "label": run.label,
            "reason": run.reason,
            "note": note,
        }
    )


SESSIONS_STOP: Final = Tool(
    name="sessions_stop",
    description="End a child that you started. Its program is told to stop, then killed; what it made is its result.",
    parameters=(SESSION_KEY, LABEL, Parameter("reason", "why")),
    run=_run,
)
