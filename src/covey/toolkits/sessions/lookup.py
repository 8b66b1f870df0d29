"""Sessions as a model names them, by session key or label, and sessions_list, which shows these names."""

from typing import Final

from covey.core.directory.session import Session
from covey.core.errors import Invalid, LabelAmbiguous
from covey.core.identity import parse_session_key
from covey.core.json import Json, JsonObject
from covey.core.names import is_uuid_like, parse_label, parse_session_id
from covey.core.work.run import Run
from covey.ports.work import RunFilter
from covey.toolkits.answers import as_json, said
from covey.toolkits.arguments import given_text
from covey.toolkits.tool import Arguments, Caller, Parameter, ParameterType, Tool, ToolAnswer

SESSION_KEY: Final = Parameter("sessionKey", "key of the session, such as agent:writer:main")
LABEL: Final = Parameter("label", "label of the session, instead of its key")

HINT: Final = "sessions_list shows the sessions."

MANY_SEARCHED: Final = 1_000
"""The number of children that are searched; the latest ones."""


async def live_session(caller: Caller, arguments: Arguments) -> Session:
    """Return the named session. Raise SessionUnknown if there is none, LabelAmbiguous if there are several."""
    key, label = _names(arguments)
    directory = caller.services.directory
    if label is not None:
        return await directory.labelled(parse_label(label))
    if is_uuid_like(key):
        return await directory.session(parse_session_id(key))
    return await directory.keyed(parse_session_key(key))


async def own_child(caller: Caller, arguments: Arguments) -> Run | None:
    """Return the named child of the caller's agent; a running child is preferred to an ended one. None if it is no
    child of that agent."""
    key, label = _names(arguments)
    views = await caller.services.runs.find(RunFilter(parent_agent=caller.identity.agent), MANY_SEARCHED)
    named = [v.run for v in views if (label or key) in ((v.run.label,) if label else (str(v.run.key), v.run.session))]
    alive = [run for run in named if not run.has_ended]
    if len(alive) > 1:
        raise LabelAmbiguous(str(label), [str(run.key) for run in alive])
    return (alive or named or [None])[-1]


async def known_child(caller: Caller, arguments: Arguments) -> Run:
    """Like `own_child`, but raise SessionUnknown if there is no such session, or Invalid if the session is not a
    child."""
    run = await own_child(caller, arguments)
    if run is not None:
        return run
    session = await live_session(caller, arguments)
    view = await caller.services.runs.of_session(session.id)
    if view is None:
        raise Invalid("session", str(session.key), "it is not a child: only children can be stopped")
    return view.run


def _names(arguments: Arguments) -> tuple[str, str | None]:
    key, label = given_text(arguments, SESSION_KEY.name), given_text(arguments, LABEL.name)
    if (key is None) == (label is None):
        raise Invalid(SESSION_KEY.name, key, "give sessionKey or label, and not both")
    return (key or "").strip(), None if label is None else label.strip()


MANY_LISTED: Final = 100
"""The maximal number of sessions, and of ended children, in a list; the rest is counted."""


async def _list(caller: Caller, arguments: Arguments) -> ToolAnswer:
    views = await caller.services.directory.agents()
    sessions = [session for view in views for session in view.sessions]
    mine = [
        view.run for view in await caller.services.runs.find(RunFilter(parent_agent=caller.identity.agent), MANY_LISTED)
    ]
    runs = {run.session: run for run in mine}
    listed: list[Json] = [_live(caller, session, runs.get(session.id)) for session in sessions[:MANY_LISTED]]
    data: dict[str, Json] = {"sessions": listed, "more": max(0, len(sessions) - MANY_LISTED)}
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
    parameters=(Parameter("ended", "true: also your children that have ended, and how", ParameterType.FLAG),),
    run=_list,
    is_read_only=True,
)
