"""sessions_list: the live sessions, and the ends of the caller's children."""

from typing import Final

from covey.core.directory.session import Session
from covey.core.json import Json, JsonObject
from covey.core.work.run import Run
from covey.ports.work import RunFilter
from covey.toolkits.answers import as_json
from covey.toolkits.tool import Answer, Arguments, Caller, Form, Parameter, Tool
from covey.toolkits.wording import said

MANY: Final = 100
"""The maximal number of sessions, and of ended children, in a list; the rest is counted."""


async def _run(caller: Caller, arguments: Arguments) -> Answer:
    views = await caller.services.directory.agents()
    sessions = [session for view in views for session in view.sessions]
    mine = [view.run for view in await caller.services.runs.find(RunFilter(parent_agent=caller.identity.agent), MANY)]
    runs = {run.session: run for run in mine}
    listed: list[Json] = [_live(caller, session, runs.get(session.id)) for session in sessions[:MANY]]
    data: dict[str, Json] = {"sessions": listed, "more": max(0, len(sessions) - MANY)}
    if arguments.get("ended") is True:
        data["ended"] = [_ended(run) for run in mine if run.has_ended]
    return as_json(data)


def _live(caller: Caller, session: Session, run: Run | None) -> JsonObject:
    entry: dict[str, Json] = {
        "sessionKey": str(session.key),
        "agent": session.agent,
        "label": session.label,
        "activity": str(session.activity),
        "isYou": True if session.id == caller.identity.session else None,
        **({} if run is None else _child(run)),
    }
    return {name: value for name, value in entry.items() if value is not None}


def _ended(run: Run) -> JsonObject:
    entry: dict[str, Json] = {"sessionKey": str(run.key), "agent": run.agent, "label": run.label, **_child(run)}
    entry["reason"] = None if run.reason is None else said(run.reason)
    return {name: value for name, value in entry.items() if value is not None}


def _child(run: Run) -> JsonObject:
    about = said(run.description) if run.description else None
    return {"runId": run.id, "status": str(run.state), "mode": str(run.mode), "description": about}


SESSIONS_LIST: Final = Tool(
    name="sessions_list",
    description="List the live sessions, with the keys and labels to reach them. Your children have a runId.",
    parameters=(Parameter("ended", "true: also your children that have ended, and how", Form.FLAG),),
    run=_run,
    is_read_only=True,
)
