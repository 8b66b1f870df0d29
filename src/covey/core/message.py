"""The message: an immutable envelope."""

from collections.abc import Mapping
from datetime import datetime
from enum import StrEnum
from typing import NamedTuple

from covey.core.address import Address
from covey.core.identity import Identity
from covey.core.ids import MessageId
from covey.core.json import Json
from covey.core.marks import Marks
from covey.core.names import AgentName, Scope, Subject
from covey.core.parts import Part, text_of


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
    subject: Subject | None = None
    scope: Scope | None = None
    round: int | None = None
    cause: MessageId | None = None
    """The message that led to this one, such as the answered or relayed one."""
    in_reply_to: MessageId | None = None
    correlation_id: str | None = None
    expects_reply: bool = False
    hops_left: int = 0
    trace: tuple[AgentName, ...] = ()
    task: TaskRef | None = None
    callback: Callback | None = None
    deadline: datetime | None = None
    """The time at which a task or an answer is due."""
    expires_at: datetime | None = None
    """The time from which on the message is no longer worth showing."""
    traceparent: str | None = None
    metadata: Mapping[str, Json] = {}
    """Plain data of the sender. No rule depends on it."""
    depth: int = 0
    """The distance to the root in the causal tree."""
    marks: Marks | None = None
    """Facts about the message that the space decides."""

    @property
    def text(self) -> str:
        """All text of the message."""
        return text_of(self.parts)
