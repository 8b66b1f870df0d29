"""ListWorkers: the coordinator's workers, and the other agents that it can continue."""

from typing import Final

from covey.core.json import Json, JsonObject
from covey.core.work.run import Run
from covey.toolkits.answers import as_json
from covey.toolkits.coordinator.workers import children
from covey.toolkits.tool import Answer, Arguments, Caller, Tool
from covey.toolkits.wording import said

MANY: Final = 50
"""The maximal length of each list; the latest entries are kept."""


async def _run(caller: Caller, arguments: Arguments) -> Answer:
    del arguments
    workers: list[Json] = [_entry(run) for run in (await children(caller))[-MANY:]]
    views = await caller.services.directory.agents()
    others: list[Json] = [
        {"worker": view.name, "status": str(view.presence), "description": said(view.card.description)}
        for view in views
        if view.name != caller.identity.agent and any(session.key.is_main for session in view.sessions)
    ]
    return as_json({"workers": workers, "agents": others[:MANY]})


def _entry(run: Run) -> JsonObject:
    entry: dict[str, Json] = {
        "worker": str(run.label or run.key),
        "status": str(run.state),
        "sessionKey": str(run.key),
        "runId": run.id,
        "agent": run.agent,
        "mode": str(run.mode),
        "reason": None if run.reason is None else said(run.reason),
    }
    return {name: value for name, value in entry.items() if value is not None}


LIST_WORKERS: Final = Tool(
    name="ListWorkers",
    description="List your workers with their states, and the other agents that you can continue.",
    parameters=(),
    run=_run,
    is_read_only=True,
)
