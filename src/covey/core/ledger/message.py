"""The message: an immutable envelope, and its body as a model reads it."""

from collections.abc import Mapping
from datetime import datetime
from enum import StrEnum
from typing import NamedTuple

from covey.core.identity import Address, Identity
from covey.core.json import Json, to_json
from covey.core.ledger.marks import Marks
from covey.core.names import AgentName, MessageId, Scope, Subject


class TextPart(NamedTuple):
    text: str


class DataPart(NamedTuple):
    data: Json


class FilePart(NamedTuple):
    """A snapshot: `digest` names the bytes as they were when the message was accepted."""

    name: str
    digest: str
    size: int
    media_type: str = "application/octet-stream"
    path: str | None = None
    """The path of the file on the sender's side: a hint that Covey never reads."""


Part = TextPart | DataPart | FilePart


def text_of(parts: tuple[Part, ...]) -> str:
    """Return all text of a message, parts separated by an empty line."""
    return "\n\n".join(part.text for part in parts if isinstance(part, TextPart))


def has_files(parts: tuple[Part, ...]) -> bool:
    """Tell whether a file is among the parts."""
    return FilePart in map(type, parts)


class Kind(StrEnum):
    REQUEST = "request"
    """Asks for something; may expect a reply."""

    RESPONSE = "response"
    """Answers the request that in_reply_to names; expects nothing."""

    NOTIFY = "notify"
    """Informs; expects nothing."""

    TASK = "task"
    """Hands work over."""

    UPDATE = "update"
    """Reports on a task or a request."""


def asks_something(kind: Kind, expects_reply: bool) -> bool:
    """Tell whether a message asks for more than to be read: it expects a reply, or is a task."""
    return expects_reply or kind is Kind.TASK


class Callback(NamedTuple):
    """The conversation that a result belongs to."""

    channel: str
    session_id: str
    more: str = ""
    """The other fields of a foreign program's callback, as the text of a JSON object, to be returned to the program
    unchanged; empty if there are none."""


class TaskRef(NamedTuple):
    """The task that a task or update message is about."""

    id: str
    state: str | None = None


class Message(NamedTuple):
    """One envelope. No field has a default: when a field is added, the type checker finds every place that makes a
    message."""

    id: MessageId
    kind: Kind
    sender: Identity
    to: tuple[Address, ...]
    parts: tuple[Part, ...]
    created_at: datetime
    thread: MessageId
    """The message that began the dialogue; its own id if it is the first."""
    root: MessageId
    """The message at the top of the causal tree, over threads and relays."""
    subject: Subject | None
    scope: Scope | None
    round: int | None
    cause: MessageId | None
    """The message that led to this one: what it answers or relays."""
    in_reply_to: MessageId | None
    correlation_id: str | None
    expects_reply: bool
    hops_left: int
    trace: tuple[AgentName, ...]
    task: TaskRef | None
    callback: Callback | None
    deadline: datetime | None
    """When a task or an answer is due."""
    expires_at: datetime | None
    """When it is no longer worth showing."""
    traceparent: str | None
    metadata: Mapping[str, Json]
    """Plain data of the sender. It decides nothing here."""
    depth: int
    """How many messages led to this one, one to the next, from the root on."""
    marks: Marks | None
    """The facts that the space decides about it."""

    @property
    def text(self) -> str:
        """All text of the message."""
        return text_of(self.parts)


def body_of(message: Message) -> str:
    """Return all parts of a message as text, separated by empty lines."""
    return "\n\n".join(_text(part) for part in message.parts)


def _text(part: Part) -> str:
    if isinstance(part, TextPart):
        return part.text
    if isinstance(part, DataPart):
        return to_json(part.data)
    return f"[file {part.name}, {part.size:,} bytes, {part.media_type}]"
