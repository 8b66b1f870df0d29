"""The mailbox toolkit: agents with cards, messages in parts that wait for offline agents, and tasks."""

from collections.abc import Sequence
from typing import Final, cast

from covey.core.attention.pending import Instructions
from covey.core.checks import plain, plain_object
from covey.core.errors import Invalid
from covey.core.formats.mailbox import entry_of, mailbox_document
from covey.core.identity import Address, AddressKind
from covey.core.json import Json, JsonObject, to_json
from covey.core.ledger.draft import Draft
from covey.core.ledger.message import Callback, DataPart, Kind, Message, Part, TextPart, text_of
from covey.core.ledger.wire import more_of
from covey.core.reporting import closest
from covey.core.text.escape import harmless_data
from covey.core.times import format_instant, parse_instant
from covey.core.work.task import FINISHED, TaskState
from covey.ports.work import TaskFilter
from covey.services.directory.directory import AgentView
from covey.services.mail.attachments import Attachments
from covey.services.mail.recipients import SendPolicy
from covey.services.tasks.tasks import TaskView
from covey.toolkits.agents import listed_agents, other_agent
from covey.toolkits.answers import MANY_NAMES, as_json, clipped, said
from covey.toolkits.arguments import given_text
from covey.toolkits.read_message import READ_MESSAGE, REST
from covey.toolkits.references import check_answerable, message_of, was_named, with_cause
from covey.toolkits.tasks import (
    ALONE,
    REASON_CHARS,
    REASONED,
    STATES,
    TASK_WAY,
    WorkOrder,
    hand_over,
    number_of,
    update,
)
from covey.toolkits.tool import Arguments, Caller, Parameter, ParameterType, Tool, ToolAnswer, Toolkit

FIELDS: Final = {"text": "text", "data": "data", "file": "path"}
"""The types of parts, each with the field that holds its content."""

SCHEMA: Final[JsonObject] = {
    "type": "array",
    "items": {
        "type": "object",
        "properties": {
            "type": {"type": "string", "enum": list(FIELDS)},
            "text": {"type": "string"},
            "data": {"type": "object"},
            "path": {"type": "string"},
        },
        "required": ["type"],
    },
}


def read_callback(written: Json) -> Callback:
    """Parse the conversation that a result belongs to, as a model writes it."""
    fields = written if isinstance(written, dict) else {}
    channel, session_id = fields.get("channel"), fields.get("session_id")
    if not isinstance(channel, str) or not isinstance(session_id, str) or not channel or not session_id:
        raise Invalid("callback", written, "use an object with channel and session_id, both texts")
    return Callback(channel, session_id, more_of({name: plain(value, "callback") for name, value in fields.items()}))


async def read_part(written: Json, attachments: Attachments) -> Part:
    """Parse a part that a model wrote. A file is stored as a snapshot of its present content."""
    if not isinstance(written, dict):
        raise Invalid("part", written, 'use an object such as {"type": "text", "text": "…"}')
    kind = written.get("type")
    field = FIELDS.get(str(kind))
    if field is None:
        near = closest(str(kind), FIELDS)
        raise Invalid("part type", kind, f"use {' or '.join(near or FIELDS)}")
    if field not in written:
        raise Invalid(f"{kind} part", written, f'it needs "{field}"')
    content = written[field]
    if field == "data":
        return DataPart(plain(content, "data"))
    if not isinstance(content, str):
        raise Invalid(field, content, "use a text")
    return TextPart(content) if field == "text" else await attachments.snapshot(content)


def task_document(view: TaskView) -> dict[str, Json]:
    """Return the message that handed a task over, with the task's present state."""
    task = view.task
    now: dict[str, Json] = {
        "id": task.id,
        "state": str(task.state),
        "deadline": format_instant(task.deadline) if task.deadline else None,
    }
    if task.reason is not None:
        now["reason"] = task.reason
    return {**mailbox_document(view.message), "task": now}


async def _list_agents(caller: Caller, arguments: Arguments) -> ToolAnswer:
    del arguments
    return as_json(listed_agents(await caller.services.directory.agents(), registry_entry).document("agents"))


def registry_entry(view: AgentView) -> JsonObject:
    """Return an agent's registry entry: its configuration, and its present state."""
    seen_at = view.last_seen_at
    registered_at = view.registered_at
    entry = entry_of(view.name, view.card, view.presence, view.current_tasks, registered_at, seen_at or registered_at)
    return {
        **entry,
        "description": said(view.card.description),
        "capabilities": [said(capability) for capability in view.card.capabilities[:MANY_NAMES]],
        "allow_from": list(view.card.allow_from[:MANY_NAMES]),
        "last_heartbeat": entry["last_heartbeat"] if seen_at else None,
    }


LIST_AGENTS: Final = Tool(
    name="list_agents",
    description=(
        "List the agents, you included: what each can do (description, capabilities), whether it is idle, busy or "
        "offline, who may write to it (allow_from, * for anyone), and how many tasks it takes and has."
    ),
    parameters=(),
    run=_list_agents,
    is_read_only=True,
)

POLICY: Final = SendPolicy(closes=True)


async def _send(caller: Caller, arguments: Arguments) -> ToolAnswer:
    to = await other_agent(caller, str(arguments["to"]), "to")
    reference = arguments.get("reply_to")
    answered = None if reference is None else await _answered(caller, str(reference))
    written = cast(Sequence[Json], arguments["parts"])
    callback, metadata = arguments.get("callback"), arguments.get("metadata")
    draft = Draft(
        # Sent to another agent than the sender, this passes the message on, and spends one of its hops.
        kind=Kind.RESPONSE if answered is not None and answered.sender.agent == to else Kind.NOTIFY,
        to=(Address(AddressKind.AGENT, to),),
        parts=tuple([await read_part(part, caller.services.attachments) for part in written]),
        in_reply_to=answered.id if answered else None,
        callback=None if callback is None else read_callback(callback),
        metadata={} if metadata is None else plain_object(metadata, "metadata"),
    )
    receipt = await caller.services.mail.send(await with_cause(caller, draft), caller.identity, POLICY)
    if answered is not None:
        await was_named(caller, answered.id, SEND_MESSAGE.name)
    document = mailbox_document(await caller.services.mail.message(receipt.message_id))
    if receipt.delivered:
        state = "waits until it is back" if receipt.delivered[0].is_parked else "delivered"
        return as_json({**document, "delivery": state})
    return as_json({**document, "delivery": f"refused: {receipt.deliveries[0].reason}"}, is_error=True)


async def _answered(caller: Caller, reference: str) -> Message:
    message_id = await message_of(caller, reference, "reply_to")
    return check_answerable(await caller.services.mail.message(message_id), "reply_to")


SEND_MESSAGE: Final = Tool(
    name="send_message",
    description=(
        "Send a message to an agent's mailbox. An offline agent gets it when it is back. You don't wait: an answer is "
        "a message to you. Files are sent as they are now."
    ),
    parameters=(
        Parameter("to", "agent_id of the receiver", is_required=True),
        Parameter(
            "parts",
            "what it says: text parts with text, data parts with data, file parts with a path",
            ParameterType.OBJECTS,
            is_required=True,
            schema=SCHEMA,
        ),
        Parameter("reply_to", "number or id of the message that you answer or pass on", ParameterType.MESSAGE),
        Parameter(
            "callback", "the conversation that a result belongs to: channel and session_id", ParameterType.OBJECT
        ),
        Parameter("metadata", "more about it, for programs", ParameterType.OBJECT),
    ),
    run=_send,
)


async def _delegate(caller: Caller, arguments: Arguments) -> ToolAnswer:
    written = cast(Sequence[Json], arguments["parts"])
    deadline, callback, metadata = (arguments.get(name) for name in ("deadline", "callback", "metadata"))
    work = WorkOrder(
        parts=tuple([await read_part(part, caller.services.attachments) for part in written]),
        deadline=None if deadline is None else parse_instant(deadline),
        callback=None if callback is None else read_callback(callback),
        metadata={} if metadata is None else plain_object(metadata, "metadata"),
    )
    for_task = given_text(arguments, "for_task")
    view = await hand_over(caller, str(arguments["to"]), work, for_task, DELEGATE_TASK.name)
    document = task_document(view)
    if view.task.state is TaskState.REJECTED:
        return as_json({**document, "delivery": f"refused: {view.task.reason}"}, is_error=True)
    is_there = (await caller.services.directory.agent(view.task.agent)).sessions
    return as_json({**document, "delivery": "delivered" if is_there else "waits until it is back"})


DELEGATE_TASK: Final = Tool(
    name="delegate_task",
    description=(
        "Hand work to an agent. You don't wait: whether it is accepted, how far it is and its result come as messages "
        "to you. While you work on a task of your own, the new one is a part of it."
    ),
    parameters=(
        Parameter("to", "agent_id of the agent that is to do it", is_required=True),
        Parameter("parts", "what is to be done, as in send_message", ParameterType.OBJECTS, is_required=True),
        Parameter("deadline", "when it must be finished: ISO 8601 with a zone"),
        Parameter(
            "callback", "the conversation that the result belongs to: channel and session_id", ParameterType.OBJECT
        ),
        Parameter("metadata", "more about it, for programs", ParameterType.OBJECT),
        Parameter(
            "for_task",
            f"number or id of your task, or of the message, that this is for; {ALONE} if it is for neither",
            ParameterType.MESSAGE,
        ),
    ),
    run=_delegate,
)

_NOT_AGAIN: Final = ("content", "metadata")
"""Fields that the model was shown with the task."""


async def _update(caller: Caller, arguments: Arguments) -> ToolAnswer:
    state = TaskState(str(arguments["state"]))
    written = cast(Sequence[Json], arguments.get("parts") or ())
    parts = tuple([await read_part(part, caller.services.attachments) for part in written])
    reason = given_text(arguments, "reason") or clipped(text_of(parts), REASON_CHARS)
    if state in REASONED and not reason.strip():
        raise Invalid("reason", None, f"say why it is {state}")
    task = await update(caller, str(arguments["task"]), state, parts, reason, UPDATE_TASK.name)
    document = task_document(await caller.services.tasks.view(task.id))
    known = {name: value for name, value in document.items() if name not in _NOT_AGAIN}
    return as_json(known, is_error=task.state is not state)


UPDATE_TASK: Final = Tool(
    name="update_task",
    description=(
        "Report on a task that you were given; its sender is told. First accepted or rejected; working reports "
        "progress; completed hands in the result. Skipped states are reported for you: completed alone will do. "
        "With failed you take back a task that you delegated."
    ),
    parameters=(
        Parameter("task", "number or id of the task", ParameterType.MESSAGE, is_required=True),
        Parameter("state", "its new state", is_required=True, choices=STATES),
        Parameter("parts", "the result, or the progress, as in send_message", ParameterType.OBJECTS),
        Parameter("reason", "why it is rejected or failed"),
    ),
    run=_update,
)

MINE: Final = "mine"
DELEGATED: Final = "delegated"

MANY_TASKS: Final = 500
"""The number of tasks that are searched; the newest ones."""

ROOM: Final = 24 * 1024
"""The maximal number of characters of one answer, unless the first task alone takes more."""


async def _list_tasks(caller: Caller, arguments: Arguments) -> ToolAnswer:
    me = caller.identity.agent
    is_mine = arguments.get("role", MINE) == MINE
    state = TaskState(str(arguments["state"])) if "state" in arguments else None
    wanted = TaskFilter(
        agent=me if is_mine else None,
        delegator=None if is_mine else me,
        is_finished=state in FINISHED,
    )
    found = await caller.services.tasks.find(wanted, MANY_TASKS)
    views = [view for view in found if state is None or view.task.state is state]
    shown: list[Json] = []
    room = ROOM
    for view in views:
        entry = harmless_data(await _task_entry(caller, view, is_mine))
        room -= len(to_json(entry))
        if shown and room < 0:
            break
        shown.append(entry)
    left = len(views) - len(shown)
    return as_json({"tasks": shown, "left_out": left} if left else {"tasks": shown})


async def _task_entry(caller: Caller, view: TaskView, is_mine: bool) -> Json:
    """Return a task with its result, if there is one."""
    task = view.task
    entry: dict[str, Json] = {**task_document(view), "updated_at": format_instant(task.updated_at)}
    if is_mine:
        entry["number"] = await number_of(caller, task.id)
        entry["is_yours"] = task.claimed_by == caller.identity.session and task.is_held
    if task.result is not None:
        entry["result"] = mailbox_document(await caller.services.mail.message(task.result))["content"]
    return entry


LIST_TASKS: Final = Tool(
    name="list_tasks",
    description=(
        "List the tasks that you are to do (mine, the default) or have delegated, oldest first: those that are not "
        "finished, or those in one state. Finished ones come with their result."
    ),
    parameters=(
        Parameter("role", "whose tasks", choices=(MINE, DELEGATED)),
        Parameter("state", "only those in this state", choices=tuple(str(state) for state in TaskState)),
    ),
    run=_list_tasks,
    is_read_only=True,
)

TOOLKIT: Final = Toolkit(
    name="mailbox",
    about="agents with cards, messages in parts that wait for offline agents, and tasks",
    instructions=(
        "Other agents have mailboxes. list_agents shows what each can do. What you send with send_message waits until "
        "its receiver reads it, also while it is offline. Answer with reply_to. Don't pass a message on to an "
        "agent that is in its trace. Work for others is a task: delegate_task hands it over, update_task reports "
        "on one that you were given. Its updates and its result come to you as messages."
    ),
    tools=(LIST_AGENTS, SEND_MESSAGE, DELEGATE_TASK, UPDATE_TASK, LIST_TASKS, READ_MESSAGE),
    ways=Instructions(
        more="they come at your next turn",
        rest=REST,
        answer="send_message(to=SENDER, reply_to=NUMBER, …)",
        task=TASK_WAY,
        decide='send_message(to=SENDER, reply_to={number}, …) with data {{"approve": true}}, or false and a "reason"',
    ),
)
