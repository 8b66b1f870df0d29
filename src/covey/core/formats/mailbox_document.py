"""The mailbox document: a message in the format of mailboxes, with three types, content in parts, a ttl and a trace."""

import json
from collections.abc import Mapping
from typing import Final, cast

from covey.core.json import Json
from covey.core.ledger.message import DataPart, Kind, Message, Part, TextPart
from covey.core.times import format_instant

TYPES: Final[Mapping[Kind, str]] = {
    Kind.REQUEST: "message",
    Kind.RESPONSE: "message",
    Kind.NOTIFY: "message",
    Kind.TASK: "task",
    Kind.UPDATE: "task_update",
}

FIRST_STATE: Final = "pending"
"""The state of a task until its recipient reports another one."""


def mailbox_document(message: Message) -> dict[str, Json]:
    """Return a message in the format of mailboxes. `task` and `callback` are null if the message has none."""
    return {
        "id": message.id,
        "from": message.sender.agent,
        "to": ", ".join(address.value for address in message.to),
        "timestamp": format_instant(message.created_at),
        "type": TYPES[message.kind],
        "ttl": message.hops_left,
        "trace": list(message.trace),
        "task": _task(message),
        "content": {"parts": [_part(part) for part in message.parts]},
        "callback": _callback(message),
        "reply_to": message.in_reply_to,
        "metadata": message.metadata,
    }


def _task(message: Message) -> Json:
    if message.kind not in (Kind.TASK, Kind.UPDATE):
        return None
    is_new = message.kind is Kind.TASK
    return {
        "id": message.task.id if message.task else message.id if is_new else message.in_reply_to,
        "state": (message.task.state if message.task else _told_state(message)) or (FIRST_STATE if is_new else None),
        "deadline": format_instant(message.deadline) if message.deadline else None,
    }


def _told_state(message: Message) -> str | None:
    """Return the state that the space reports for a message that is no task, such as a rejection."""
    for part in message.parts:
        state = part.data.get("state") if isinstance(part, DataPart) and isinstance(part.data, Mapping) else None
        if isinstance(state, str):
            return state
    return None


def _callback(message: Message) -> Json:
    callback = message.callback
    if callback is None:
        return None
    known = {"session_id": callback.session_id, "channel": callback.channel}
    more = cast(dict[str, Json], json.loads(callback.more or "{}"))
    return {**{name: value for name, value in known.items() if value}, **more}


def _part(part: Part) -> Json:
    """Return a part as JSON data. A file has the path that its sender named, and the name, hash and size of the
    snapshot."""
    if isinstance(part, TextPart):
        return {"type": "text", "text": part.text}
    if isinstance(part, DataPart):
        return {"type": "data", "data": part.data}
    return {"type": "file", "path": part.path, "name": part.name, "digest": part.digest, "size": part.size}
