"""The coordinator toolkit: divide work among workers, continue those with the knowledge, and join their results."""

from typing import Final, NamedTuple

from covey.core.attention.pending import Instructions
from covey.core.directory.session import Session
from covey.core.errors import Invalid, LabelAmbiguous, NotFound, SessionUnknown
from covey.core.identity import Address, AddressKind, main_key, parse_session_key
from covey.core.json import Json, JsonObject
from covey.core.ledger.draft import Draft
from covey.core.ledger.message import Kind, TextPart
from covey.core.names import MessageId, is_uuid_like, parse_agent_name, parse_label
from covey.core.work.run import Run, RunMode
from covey.core.work.spawning import COORDINATOR
from covey.ports.work import RunFilter
from covey.services.children.request import SpawnRequest
from covey.toolkits.agents import child_agent, start_child
from covey.toolkits.answers import as_json, clipped, failures, refused, said
from covey.toolkits.arguments import given_text
from covey.toolkits.read_message import READ_MESSAGE, REST
from covey.toolkits.references import with_cause
from covey.toolkits.tool import Arguments, Caller, Parameter, ParameterType, Tool, ToolAnswer, Toolkit

MANY_SEARCHED = 1_000
"""The number of children that are searched; the latest ones."""


class LiveWorker(NamedTuple):
    """A live worker, and the last message between it and the coordinator."""

    session: Session
    run: Run | None
    """None if it is not a child of the coordinator."""
    last: MessageId | None


async def children(caller: Caller) -> list[Run]:
    """Return the children of the coordinator's agent, the oldest first."""
    found = await caller.services.runs.find(RunFilter(parent_agent=caller.identity.agent), MANY_SEARCHED)
    return [view.run for view in found]


async def child_named(caller: Caller, name: str) -> Run | None:
    """Return a child by its label, session key, session id or run id; a running child is preferred to an ended one."""
    named = [run for run in await children(caller) if name in (run.label, str(run.key), run.session, run.id)]
    alive = [run for run in named if not run.has_ended]
    if len(alive) > 1:
        raise LabelAmbiguous(name, [str(run.key) for run in alive])
    return (alive or named or [None])[-1]


async def worker_named(caller: Caller, name: str) -> LiveWorker:
    """Return a worker that can be continued. Raise Invalid with advice for a child that has ended, SessionUnknown for
    an unknown name."""
    run = await child_named(caller, name)
    if run is not None and run.has_ended:
        raise Invalid(
            "worker",
            name,
            f"it has ended ({run.state}), and can't be continued: start a new one and tell it all it needs",
        )
    directory = caller.services.directory
    if run is not None:
        history = await caller.services.runs.history(run.id)
        own = [message.id for message in history if message.sender.agent in (run.agent, run.parent_agent)]
        return LiveWorker(await directory.session(run.session), run, own[-1] if own else None)
    session = await _session(caller, name)
    if session.id == caller.identity.session:
        raise Invalid("worker", name, "that is you")
    last = await caller.services.work.last(session, caller.identity)
    return LiveWorker(session, None, None if last is None else last.id)


async def _session(caller: Caller, name: str) -> Session:
    directory = caller.services.directory
    if name.startswith("agent:"):
        return await directory.keyed(parse_session_key(name))
    if not is_uuid_like(name):
        try:
            return await directory.labelled(parse_label(name))
        except SessionUnknown:
            pass
        try:
            return await directory.keyed(main_key(parse_agent_name(name)))
        except (Invalid, NotFound):
            pass
    raise SessionUnknown(name)


MANY_LISTED: Final = 50
"""The maximal length of each list; the latest entries are kept."""


async def _list(caller: Caller, arguments: Arguments) -> ToolAnswer:
    del arguments
    workers: list[Json] = [_entry(run) for run in (await children(caller))[-MANY_LISTED:]]
    views = await caller.services.directory.agents()
    others: list[Json] = [
        {"worker": view.name, "status": str(view.presence), "description": said(view.card.description)}
        for view in views
        if view.name != caller.identity.agent and any(session.key.is_main for session in view.sessions)
    ]
    return as_json({"workers": workers, "agents": others[:MANY_LISTED]})


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
    run=_list,
    is_read_only=True,
)

HINT: Final = "ListWorkers shows the workers; SpawnWorker starts one."


async def _send(caller: Caller, arguments: Arguments) -> ToolAnswer:
    name, text = given_text(arguments, "worker"), given_text(arguments, "message")
    if name is None or text is None:
        raise Invalid("worker" if name is None else "message", None, "say which worker, and what it is to do")
    try:
        worker = await worker_named(caller, name.strip())
    except SessionUnknown as error:
        return refused(error, HINT)
    # A child in mode run answers once, at its end: messages before that go to its inbox.
    is_remark = worker.run is not None and worker.run.mode is RunMode.RUN
    draft = Draft(
        Kind.NOTIFY if is_remark else Kind.REQUEST,
        (Address(AddressKind.SESSION, worker.session.id),),
        (TextPart(text),),
        in_reply_to=worker.last,
        expects_reply=not is_remark,
    )
    receipt = await caller.services.work.give(await with_cause(caller, draft), worker.session, caller.identity)
    status = "failed" if not receipt.delivered else "noted" if is_remark else "continued"
    notes = {
        "failed": " ".join(failures(receipt)),
        "noted": "It still works on its task, and reads this later. Its result comes as a task-notification.",
        "continued": "It goes on with what it knows. Its result comes as a task-notification.",
    }
    data = {
        "status": status,
        "worker": name.strip(),
        "sessionKey": str(worker.session.key),
        "runId": None if worker.run is None else worker.run.id,
        "note": notes[status],
    }
    return as_json({key: value for key, value in data.items() if value is not None}, is_error=status == "failed")


SEND_MESSAGE_TO_WORKER: Final = Tool(
    name="SendMessageToWorker",
    description=(
        "Continue a worker: it remembers what it has read and done, and goes on from there. You don't wait; "
        "its result comes as a task-notification."
    ),
    parameters=(
        Parameter("worker", "its name, session key or run id, as a task-notification has it", is_required=True),
        Parameter("message", "what it is to do next", is_required=True),
    ),
    run=_send,
)


async def _spawn(caller: Caller, arguments: Arguments) -> ToolAnswer:
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
        Parameter("stays", "true: it stays to be continued, in a conversation that people see", ParameterType.FLAG),
    ),
    run=_spawn,
)


async def _stop(caller: Caller, arguments: Arguments) -> ToolAnswer:
    name = str(arguments["worker"]).strip()
    run = await child_named(caller, name)
    if run is None:
        return refused(SessionUnknown(clipped(name)), HINT)
    reason = clipped(given_text(arguments, "reason") or "")
    run = await caller.services.spawning.stop(run.id, caller.identity, reason)
    return as_json({"status": str(run.state), "worker": name, "runId": run.id, "reason": run.reason})


STOP_WORKER: Final = Tool(
    name="StopWorker",
    description="End a worker that you started. Its work so far comes as its result.",
    parameters=(
        Parameter("worker", "its name, session key or run id", is_required=True),
        Parameter("reason", "why"),
    ),
    run=_stop,
)

CONTINUE: Final = "SendMessageToWorker(worker=…, message=…)"

TOOLKIT: Final = Toolkit(
    name="coordinator",
    about="divide work among workers, and continue or start them",
    instructions=COORDINATOR,
    tools=(SPAWN_WORKER, SEND_MESSAGE_TO_WORKER, LIST_WORKERS, STOP_WORKER, READ_MESSAGE),
    ways=Instructions(
        more="they come at your next turn",
        rest=REST,
        answer=CONTINUE,
        decide="tell its sender with SendMessageToWorker",
        task="",
        worker=CONTINUE,
    ),
)
