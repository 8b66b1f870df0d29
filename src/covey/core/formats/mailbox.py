"""The mailbox layout: a file for each message, named by time and sender; its document, with three types, content in
parts, a ttl and a trace; and the registry, with an entry for each agent."""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Final, cast

from covey.core.checks import plain
from covey.core.directory.card import ANYONE, Card, Presence
from covey.core.errors import Invalid
from covey.core.formats.foreign_files import (
    count_of,
    document_of,
    file_of,
    id_in,
    instant_of,
    leftovers,
    name_in,
    object_in,
    text_in,
)
from covey.core.formats.layout import FileCopy, ForeignMessage, agent_of
from covey.core.json import Json
from covey.core.ledger.message import Callback, DataPart, Kind, Message, Part, TextPart
from covey.core.ledger.wire import more_of
from covey.core.limits import MAX_PARTS
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
        "callback": _callback_document(message),
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


def _callback_document(message: Message) -> Json:
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


ENDING: Final = ".msg.json"

MAX_TRACE: Final = 64
"""The longest trace that is accepted. A true one has at most as many steps as a message has hops."""

_TYPES: Final[Mapping[Json, Kind]] = {"message": Kind.NOTIFY, "task": Kind.TASK, "task_update": Kind.UPDATE}
_OUR_ID = re.compile(r"([0-9]{13})-([0-9a-f]{8})")
_ODD = re.compile(r"[^A-Za-z0-9_-]+")


def file_name(file_id: str, sender: str, microsecond: int = 0, order: int = 0) -> str:
    """Return the name of a file that Covey writes: the time of sending, the sender, and a part of the id, which makes
    the name unique. The time has nineteen digits, so that names sort in the order of sending: the id's millisecond,
    three digits of the microsecond, and three of `order`, which orders messages of the same microsecond."""
    made = _OUR_ID.match(file_id)
    if made is None:
        raise Invalid("file id", file_id, "use MILLISECONDS-UUID")
    millis, first = made.groups()
    at = f"{millis}{microsecond % 1000:03}{order % 1000:03}"
    return f"{at}_{_ODD.sub('-', sender)[:64]}_{first}{ENDING}"


def written(message: Message, copy: FileCopy, document: str) -> bytes:
    """Return the content of the file for an agent's copy."""
    fields = {
        **mailbox_document(message),
        "id": copy.file_id,
        "from": copy.sender,
        "to": copy.to,
        "reply_to": copy.in_reply_to,
    }
    task = fields["task"]
    if isinstance(task, Mapping):
        # An update without a task is about the message that it answers. The reader knows that message by the file's id.
        is_about_message = message.kind is Kind.UPDATE and message.task is None
        theirs = copy.in_reply_to if copy.task_id is None and is_about_message else copy.task_id
        fields["task"] = task if theirs is None else {**task, "id": theirs}
    # Readers access fields of the callback without checking that there is one.
    fields["callback"] = fields["callback"] or {}
    return file_of(fields, document)


def paper(content: bytes, owner: str) -> ForeignMessage:
    """Parse a file from the folder of `owner`. Raise Invalid if it is no message of a mailbox."""
    data = document_of(content)
    named = data.get("to")
    word = text_in(data, "type")
    answers = id_in(data, "reply_to")
    kind = _TYPES.get(word, Kind.NOTIFY)
    if kind is Kind.NOTIFY and answers is not None:
        kind = Kind.RESPONSE
    own_id = id_in(data, "id") or ""
    task = object_in(data, "task")
    has_task = kind in (Kind.TASK, Kind.UPDATE)
    text, items, files = _content(data.get("content"), is_needed=kind is not Kind.UPDATE)
    ttl = count_of(data.get("ttl"))
    return ForeignMessage(
        id=own_id,
        sender=name_in(data, "from"),
        kind=kind,
        text=text,
        created_at=instant_of(data.get("timestamp")),
        in_reply_to=answers,
        data=items,
        files=files,
        task_id=(id_in(task, "id") or own_id or None) if has_task else None,
        task_state=text_in(task, "state") if has_task else None,
        deadline=instant_of(task.get("deadline")) if has_task else None,
        ttl=ttl,
        trace=_trace(data.get("trace")),
        callback=_callback(object_in(data, "callback")),
        metadata=leftovers(
            type=None if word in _TYPES else data.get("type"),
            to=None if named == owner or not owner else named,
            metadata=object_in(data, "metadata"),
        ),
        to=owner or name_in(data, "to"),
    )


def _content(value: Json, is_needed: bool) -> tuple[str, tuple[Json, ...], tuple[str, ...]]:
    """Return the joined texts, the data and the paths of files in a message's content."""
    parts = value.get("parts") if isinstance(value, Mapping) else value
    if isinstance(parts, str):
        return parts, (), ()
    if not isinstance(parts, list):
        if is_needed:
            raise Invalid("content", value, "a message has parts")
        return "", (), ()
    if len(parts) > MAX_PARTS:
        raise Invalid("parts", len(parts), f"use at most {MAX_PARTS}")
    texts: list[str] = []
    items: list[Json] = []
    files: list[str] = []
    for part in parts:
        fields: Mapping[str, Json] = part if isinstance(part, Mapping) else {}
        text = part if isinstance(part, str) else text_in(fields, "text")
        path = text_in(fields, "path")
        if text is not None:
            texts.append(text)
        elif path is not None:
            files.append(path)
        else:
            items.append(plain(fields.get("data", part), "part"))
    return "\n\n".join(texts), tuple(items), tuple(files)


def _trace(value: Json) -> tuple[str, ...]:
    if not isinstance(value, list):
        return ()
    if len(value) > MAX_TRACE:
        raise Invalid("trace", len(value), f"use at most {MAX_TRACE} agents")
    return tuple(name for name in value if isinstance(name, str) and name)


def _callback(data: Mapping[str, Json]) -> Callback | None:
    """Return a callback with all its fields: unknown ones are returned to the program that set them."""
    if not data:
        return None
    more = more_of({name: plain(value, "callback") for name, value in data.items()})
    return Callback(text_in(data, "channel") or "", text_in(data, "session_id") or "", more)


# A foreign card over these limits is cut and not refused.
_DESCRIPTION_CHARS = 4_000
_CAPABILITIES = 100
_CAPABILITY_CHARS = 200
_ALLOWED = 500


def entry_of(
    name: str,
    card: Card,
    presence: Presence,
    current_tasks: Sequence[str],
    registered_at: datetime,
    last_heartbeat: datetime,
) -> dict[str, Json]:
    """Return an agent's entry for the registry: its configuration and its present state. Readers compute with the last
    heartbeat, so every entry has one: for an agent without a heartbeat, the time of registration."""
    return {
        "agent_id": name,
        "description": card.description,
        "capabilities": list(card.capabilities),
        "status": str(presence),
        "allow_from": list(card.allow_from),
        "max_concurrent_tasks": card.quota,
        "current_tasks": list(current_tasks),
        "registered_at": format_instant(registered_at),
        "last_heartbeat": format_instant(last_heartbeat),
    }


def card_of(entry: Json) -> Card:
    """Return the card in a registry entry of a foreign program. Fields that can't be parsed are left out; raise Invalid
    if the entry is no object."""
    if not isinstance(entry, Mapping):
        raise Invalid("registry entry", entry, "use an object")
    blank = Card()
    allowed = entry.get("allow_from")
    quota = count_of(entry.get("max_concurrent_tasks"))
    return Card(
        description=_printable(text_in(entry, "description") or "")[:_DESCRIPTION_CHARS],
        capabilities=tuple(
            _printable(word)[:_CAPABILITY_CHARS] for word in _texts(entry.get("capabilities"))[:_CAPABILITIES]
        ),
        allow_from=blank.allow_from if not isinstance(allowed, list) else tuple(_allowed(_texts(allowed))),
        quota=blank.quota if quota is None else quota,
    )


def _allowed(names: Iterable[str]) -> Iterable[str]:
    known = dict.fromkeys(ANYONE if name == ANYONE else agent_of(name) for name in names)
    return (ANYONE,) if ANYONE in known else tuple(known)[:_ALLOWED]


def _texts(value: Json) -> list[str]:
    return [item for item in value if isinstance(item, str)] if isinstance(value, list) else []


def _printable(text: str) -> str:
    return "".join(c for c in text if (c >= " " or c in "\n\t") and not "\ud800" <= c <= "\udfff")


def status_in(entry: Json) -> Presence:
    """Return the presence in an entry; idle if it is missing or unknown."""
    said = text_in(entry, "status") if isinstance(entry, Mapping) else None
    return Presence(said) if said in set(Presence) else Presence.IDLE


def heard_at(entry: Json) -> datetime | None:
    """Return the time of the last heartbeat in an entry, or None."""
    return instant_of(entry.get("last_heartbeat")) if isinstance(entry, Mapping) else None
