"""The dialogue layout, for agent loops: a file of eleven fields for each message, and a manifest of their history."""

from collections.abc import Mapping
from contextlib import suppress
from datetime import datetime
from typing import Final, Literal, cast

from covey.core.errors import Invalid
from covey.core.formats.foreign_files import (
    count_of,
    document_of,
    file_of,
    id_in,
    instant_of,
    leftovers,
    name_in,
    scope_of,
    subject_of,
    text_in,
)
from covey.core.formats.layout import FileCopy, ForeignMessage
from covey.core.json import Json, to_json
from covey.core.ledger.message import Kind, Message, body_of
from covey.core.ledger.wire import read_json
from covey.core.names import Scope
from covey.core.times import format_instant


def dialogue_document(message: Message) -> dict[str, Json]:
    """Return a message as the messages-* verbs write it."""
    return {
        "id": message.id,
        "from": message.sender.agent,
        "to": ", ".join(address.value for address in message.to),
        "phase": message.scope,
        "round": message.round,
        "kind": str(message.kind),
        "subject": message.subject,
        "body": message.text,
        "expects_reply": message.expects_reply,
        "in_reply_to": message.in_reply_to,
        "created_at": format_instant(message.created_at),
    }


SWEPT: Final = "task-swept"

_KINDS: Final[Mapping[Kind, Kind]] = {Kind.TASK: Kind.REQUEST, Kind.UPDATE: Kind.NOTIFY}
"""Kinds that loops do not know, with the nearest kind that they do."""

_READ: Final[Mapping[Json, Kind]] = {str(kind): kind for kind in (Kind.REQUEST, Kind.RESPONSE, Kind.NOTIFY)}


NO_TASK: Final = "no-task"
"""The phase in a file whose message has no scope. Loops don't see a message without a phase or a subject."""


def file_name(file_id: str) -> str:
    """Return the name of the file that Covey writes for an id."""
    return f"{file_id}.json"


def written(message: Message, copy: FileCopy, document: str) -> bytes:
    """Return the content of the file for an agent's copy. Its body also has data and files, as text."""
    fields = {
        **dialogue_document(message),
        "id": copy.file_id,
        "from": copy.sender,
        "to": copy.to,
        "phase": phase_of(message),
        "kind": kind_of(message),
        "subject": topic_of(message),
        "body": body_of(message),
        "in_reply_to": copy.in_reply_to,
    }
    return file_of(fields, document)


def phase_of(message: Message) -> str:
    """Return the task under which loops file a message."""
    return message.scope or NO_TASK


def kind_of(message: Message) -> Kind:
    """Return the kind of a message, as loops know it."""
    return _KINDS.get(message.kind, message.kind)


def topic_of(message: Message) -> str:
    """Return the subject that loops read: the message's subject, or its kind."""
    return message.subject or str(message.kind)


def paper(content: bytes, owner: str) -> ForeignMessage:
    """Parse a file from the inbox of `owner`, or from the archive if `owner` is empty. Raise Invalid if a loop could
    not read it."""
    data = document_of(content)
    body = text_in(data, "body")
    if body is None:
        raise Invalid("body", data.get("body"), "a message has a text")
    named = data.get("to")
    answers = id_in(data, "in_reply_to")
    kind = _kind(data, answers)
    scope, subject = scope_of(data.get("phase")), subject_of(data.get("subject"))
    return ForeignMessage(
        id=id_in(data, "id") or "",
        sender=name_in(data, "from"),
        kind=kind,
        text=body,
        created_at=instant_of(data.get("created_at")),
        subject=subject,
        scope=scope,
        round=count_of(data.get("round")),
        expects_reply=kind is Kind.REQUEST and data.get("expects_reply") is True,
        in_reply_to=answers,
        metadata=leftovers(
            kind=None if data.get("kind") == kind else data.get("kind"),
            phase=None if scope else data.get("phase"),
            subject=None if subject else data.get("subject"),
            to=None if named == owner or not owner else named,
        ),
        to=owner or name_in(data, "to"),
    )


def _kind(data: Mapping[str, Json], answers: str | None) -> Kind:
    """Return the kind in a file, or the nearest one. A response that answers no message is a notify."""
    word = text_in(data, "kind")
    kind = _READ.get(word) or (Kind.REQUEST if data.get("expects_reply") is True else Kind.NOTIFY)
    return Kind.NOTIFY if kind is Kind.RESPONSE and answers is None else kind


def manifest_line(
    event: Literal["sent", "archived"], message: Message, copy: FileCopy, at: datetime, position: int
) -> str:
    """Return the manifest's line for an event of an agent's copy; `position` is the event's in the journal."""
    return to_json(
        {
            "event": event,
            "id": copy.file_id,
            "from": copy.sender,
            "to": copy.to,
            "phase": phase_of(message),
            "task_id": phase_of(message),
            "round": message.round,
            "kind": kind_of(message),
            "subject": topic_of(message),
            "in_reply_to": copy.in_reply_to,
            "expects_reply": message.expects_reply,
            "created_at": format_instant(at),
            "at": format_instant(at),
            "position": position,
        }
    )


def swept_line(scope: Scope, moved: int, at: datetime, position: int) -> str:
    """Return the manifest's line for a sweep, with the number of files that were moved."""
    told_at = format_instant(at)
    return to_json(
        {
            "event": SWEPT,
            "phase": scope,
            "task_id": scope,
            "moved": moved,
            "created_at": told_at,
            "at": told_at,
            "position": position,
        }
    )


def position_of(line: str | bytes) -> int | None:
    """Return the journal position in a line of the manifest; None for the line of a foreign program."""
    with suppress(ValueError, RecursionError):
        data = read_json(line.decode() if isinstance(line, bytes) else line)
        position = cast(Mapping[str, Json], data).get("position") if isinstance(data, dict) else None
        return position if isinstance(position, int) and not isinstance(position, bool) and position >= 0 else None
    return None
