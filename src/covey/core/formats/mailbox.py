"""The mailbox layout: a file for each message, named by time and sender."""

import re
from collections.abc import Mapping
from typing import Final

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
from covey.core.formats.layout import Copy, Paper
from covey.core.formats.mailbox_document import mailbox_document
from covey.core.json import Json
from covey.core.ledger.message import Callback, Kind, Message
from covey.core.ledger.wire import more_of
from covey.core.limits import MAX_PARTS
from covey.core.plain import plain

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


def written(message: Message, copy: Copy, document: str) -> bytes:
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


def paper(content: bytes, owner: str) -> Paper:
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
    return Paper(
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
