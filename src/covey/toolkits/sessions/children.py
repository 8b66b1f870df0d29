"""sessions_spawn and sessions_stop: start a child for a task, and end one."""

from typing import Final

from covey.core.errors import Invalid, SessionUnknown
from covey.core.names import parse_label
from covey.core.work.run import RunMode
from covey.services.children.request import SpawnRequest
from covey.toolkits.agents import child_agent, start_child
from covey.toolkits.answers import as_json, clipped, refused
from covey.toolkits.arguments import given_text, given_texts
from covey.toolkits.sessions.lookup import HINT, LABEL, SESSION_KEY, known_child
from covey.toolkits.tool import Arguments, Caller, Parameter, ParameterType, Tool, ToolAnswer


async def _spawn(caller: Caller, arguments: Arguments) -> ToolAnswer:
    task = given_text(arguments, "task")
    if task is None:
        raise Invalid("task", "", "say what the child is to do")
    limit, label = arguments.get("runTimeoutSeconds"), given_text(arguments, "label")
    wish = SpawnRequest(
        task=task,
        agent=await child_agent(caller, given_text(arguments, "agent")),
        mode=RunMode(str(arguments.get("mode", RunMode.RUN))),
        thread=arguments.get("thread") is True,
        time_limit=float(limit) if isinstance(limit, int | float) and limit != 0 else None,
        attachments=tuple(given_texts(arguments, "attachments")),
        label=None if label is None else parse_label(label.strip()),
    )
    run = await start_child(caller, wish)
    stays = " It stays, and answers whenever it is written to." if run.mode is RunMode.SESSION else ""
    return as_json(
        {
            "status": "accepted",
            "childSessionKey": str(run.key),
            "runId": run.id,
            "ticket": run.ticket,
            "agent": run.agent,
            "mode": str(run.mode),
            "label": run.label,
            "thread": None if run.thread is None else {"channel": run.thread.channel, "id": run.thread.session_id},
            "note": f"It runs. Its result comes to your inbox by itself: don't ask for it.{stays}",
        }
    )


SESSIONS_SPAWN: Final = Tool(
    name="sessions_spawn",
    description=(
        "Start a child agent for a task. You don't wait: you get its session key at once, and its result comes to your "
        "inbox when it is finished. To talk to an existing session, use sessions_send."
    ),
    parameters=(
        Parameter("task", "all that the child needs to know to do it", is_required=True),
        Parameter("agent", "id of the agent to start; left out, one like you"),
        Parameter(
            "mode",
            "run: it does the task and is gone (default); session: it stays for more, and needs thread=true",
            choices=tuple(RunMode),
        ),
        Parameter(
            "thread", "bind it to a thread of a channel, where people see it and can speak to it", ParameterType.FLAG
        ),
        Parameter(
            "runTimeoutSeconds",
            "after so many seconds it is ended; what it made so far is its result",
            ParameterType.NUMBER,
        ),
        Parameter("attachments", "paths of files; the child gets them as they are now", ParameterType.TEXTS),
        Parameter("label", "a name of your choice for sessions_send"),
    ),
    run=_spawn,
)


async def _stop(caller: Caller, arguments: Arguments) -> ToolAnswer:
    try:
        run = await known_child(caller, arguments)
    except SessionUnknown as error:
        return refused(error, HINT)
    reason = clipped(given_text(arguments, "reason") or "")
    run = await caller.services.spawning.stop(run.id, caller.identity, reason)
    note = "Its result comes to your inbox." if run.has_ended else "It was told to stop, and has not ended yet."
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
    run=_stop,
)
