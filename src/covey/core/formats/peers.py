"""The peers' wire, for programs that know nothing else: the subject of an inbox, the limits of a body, the payload, and
the router that buffers the messages for each goal until its runtime drains them at the next turn.

A buffer holds 64 messages and evicts the oldest. A message for an unregistered goal waits in a new buffer, so that an
agent sees messages that were sent right after its spawn.
"""

import json
import re
import unicodedata
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any, Final, Generic, NamedTuple, TypeVar, cast

from covey.core.errors import Invalid, MessageTooLarge, Rejected
from covey.core.json import Json
from covey.core.ledger.message import Message
from covey.core.limits import PEERS_INBOX_CAPACITY
from covey.core.names import (
    AgentName,
    MessageId,
    SessionId,
    derived_message_id,
    is_reserved,
    is_uuid_like,
    parse_correlation_id,
    parse_session_id,
)
from covey.core.times import format_instant, parse_instant
from covey.core.work.approval import bare_text

INBOX_SUBJECT_PREFIX: Final = "agent.inbox"
"""An inbox is the subject agent.inbox.<session id>."""

MIN_BODY_CHARS: Final = 1
MAX_BODY_BYTES: Final = 64 * 1024
"""The size of the text as UTF-8."""


def inbox_subject(session_id: SessionId) -> str:
    """Return the subject of a session's inbox."""
    return f"{INBOX_SUBJECT_PREFIX}.{session_id}"


def inbox_message(message: Message, recipient: str) -> dict[str, Json]:
    """Return the payload of a message for one recipient. The field for the correlation id is left out if the message
    has none. The body of a request for approval, and of its answer, is JSON."""
    payload: dict[str, Json] = {
        "from_agent_id": message.sender.agent,
        "from_goal_id": message.sender.session or _own_uuid(message.id),
        "to_agent_id": recipient,
        "body": bare_text(message) or message.text,
        "sent_at": format_instant(message.created_at),
    }
    return payload if message.correlation_id is None else {**payload, "correlation_id": message.correlation_id}


def in_envelope(message: Message, topic: str, payload: dict[str, Json]) -> dict[str, Json]:
    """Return a payload in the envelope that some programs on the wire put around every message."""
    return {
        "id": _own_uuid(message.id),
        "timestamp": format_instant(message.created_at),
        "topic": topic,
        "source": message.sender.agent,
        "session_id": message.sender.session,
        "payload": payload,
    }


def _own_uuid(message_id: MessageId) -> str:
    """Return the uuid in a message's id, which is the same for every copy."""
    return message_id.partition("-")[2]


MAX_FOREIGN_NAME: Final = 128
SUFFIX: Final = "-wire"
_MOST_SUFFIXED: Final = 9
_OTHER = re.compile(r"[^A-Za-z0-9_-]+")
_ROOM: Final = 64 - len(SUFFIX) - 1


def parse_foreign_name(text: object) -> str:
    """Parse the name that a foreign program gives itself: printable, without spaces, and not reserved."""
    if not isinstance(text, str):
        raise Invalid("payload", type(text).__name__, "from_agent_id is a text")
    if not 0 < len(text) <= MAX_FOREIGN_NAME or not text.isprintable() or " " in text:
        raise Invalid("from_agent_id", text, f"use 1 to {MAX_FOREIGN_NAME} printable characters and no space")
    name = _mapped(text)
    if not name or is_uuid_like(name):
        raise Invalid("from_agent_id", text, "use letters or digits, and not the form of a uuid")
    if is_reserved(name):
        raise Invalid("from_agent_id", text, "the name is reserved")
    return text


def names_for(foreign: str) -> Iterator[AgentName]:
    """Yield the names that a foreign program may have in this space, the best one first. The later ones are for a
    program whose name belongs to another agent or program: `kate.v2` is kate-v2, else kate-v2-wire."""
    name = _mapped(foreign)
    yield AgentName(name)
    yield AgentName(f"{name}{SUFFIX}")
    for n in range(2, _MOST_SUFFIXED + 1):
        yield AgentName(f"{name}{SUFFIX}{n}")


def _mapped(foreign: str) -> str:
    return _OTHER.sub("-", unicodedata.normalize("NFKC", foreign)).strip("-")[:_ROOM]


_MOST_BYTES = 8 * MAX_BODY_BYTES
"""The largest payload that is parsed. A body may be longer as JSON: up to six bytes for each byte."""


_ENVELOPE = frozenset({"id", "timestamp", "topic", "source", "payload"})
"""The fields by which an envelope is recognised; session_id may be missing."""


class InboxMessage(NamedTuple):
    """A message on the peers' wire."""

    from_agent_id: str
    """The name that the program gives itself. It need not be a valid name of an agent."""
    from_goal_id: SessionId
    to_agent_id: str
    body: str
    sent_at: datetime
    correlation_id: str | None = None
    is_enveloped: bool = False
    """True if the message came in an envelope."""

    def payload(self) -> bytes:
        """Return the payload, without a field for the correlation id if there is none."""
        fields: dict[str, Json] = {**self._asdict(), "sent_at": format_instant(self.sent_at)}
        del fields["is_enveloped"]
        if self.correlation_id is None:
            del fields["correlation_id"]
        return json.dumps(fields, ensure_ascii=False).encode()


def parse_inbox_subject(subject: str) -> SessionId:
    """Parse the subject of an inbox, and return the session that it belongs to."""
    prefix, _, goal = subject.rpartition(".")
    if prefix != INBOX_SUBJECT_PREFIX:
        raise Invalid("subject", subject[:80], f"an inbox is {INBOX_SUBJECT_PREFIX}.<uuid>")
    return parse_session_id(goal)


def parse_inbox_message(payload: bytes) -> InboxMessage:
    """Parse a payload, which may be in an envelope. Ignore unknown fields; raise Invalid or MessageTooLarge for any
    other deviation."""
    if len(payload) > _MOST_BYTES:
        raise MessageTooLarge(len(payload), MAX_BODY_BYTES)
    outer = _fields(payload)
    fields = _unwrapped(outer)
    body, to = fields.get("body"), fields.get("to_agent_id")
    if not isinstance(body, str) or len(body) < MIN_BODY_CHARS:
        raise Invalid("body", None if body is None else "", "a body is a text of at least 1 character")
    try:
        size = len(body.encode())
    except UnicodeEncodeError:  # a lone surrogate, which JSON can carry and UTF-8 can't
        raise Invalid("body", "…", "it has characters that are not valid Unicode") from None
    if size > MAX_BODY_BYTES:
        raise MessageTooLarge(size, MAX_BODY_BYTES)
    if not isinstance(to, str):
        raise Invalid("to_agent_id", to, "use a text")
    correlation = fields.get("correlation_id")
    return InboxMessage(
        parse_foreign_name(fields.get("from_agent_id")),
        parse_session_id(fields.get("from_goal_id")),
        to,
        body,
        parse_instant(fields.get("sent_at")),
        None if correlation is None else parse_correlation_id(correlation),
        fields is not outer,
    )


def _unwrapped(fields: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the message in an envelope; the fields themselves if they are no envelope."""
    inner: object = fields.get("payload")
    if not isinstance(inner, dict) or not fields.keys() >= _ENVELOPE:
        return fields
    return cast(dict[str, Any], inner)


def arrival_id(at: datetime, stream: str, seq: int) -> MessageId:
    """Return the id of the message that arrived as the `seq`-th of a stream: the same id in every process that reads
    it."""
    from hashlib import sha256  # imported late because it brings OpenSSL

    milliseconds = int(at.timestamp() * 1000)
    digest = sha256(f"{stream} {seq} {at.isoformat()}".encode()).hexdigest()
    return derived_message_id(milliseconds, digest)


def _fields(payload: bytes) -> Mapping[str, Any]:
    try:
        data: object = json.loads(payload)
    except (ValueError, RecursionError):
        raise Invalid("payload", f"{len(payload)} bytes", "use JSON in UTF-8") from None
    if not isinstance(data, dict):
        raise Invalid("payload", type(data).__name__, "use an object")
    return cast(dict[str, Any], data)


T = TypeVar("T")
Say = Callable[[str], None]
"""A sink for log lines."""

MAX_UNREGISTERED: Final = 1024
"""The number of unregistered goals that may have a buffer. Beyond it, the oldest buffer is dropped."""


class InboxBuffer(Generic[T]):
    """The waiting messages of one goal, oldest first."""

    def __init__(self, goal: SessionId, warn: Say, limit: int = PEERS_INBOX_CAPACITY) -> None:
        self.goal = goal
        self._warn = warn
        self._limit = limit
        self._waiting: deque[T] = deque()

    def __len__(self) -> int:
        return len(self._waiting)

    def push(self, message: T) -> None:
        """Add a message. If the buffer is full, evict the oldest message with a warning."""
        if len(self._waiting) == self._limit:
            self._waiting.popleft()
            self._warn(f"the buffer of goal {self.goal} held {self._limit} messages: the oldest was evicted")
        self._waiting.append(message)

    def drain(self) -> Sequence[T]:
        """Remove and return all messages."""
        drained = tuple(self._waiting)
        self._waiting.clear()
        return drained


class Buffers(Generic[T]):
    """A buffer for each goal, registered or not."""

    def __init__(self, warn: Say) -> None:
        self._warn = warn
        self._registered: dict[SessionId, InboxBuffer[T]] = {}
        self._unregistered: dict[SessionId, InboxBuffer[T]] = {}

    @property
    def unregistered(self) -> Sequence[SessionId]:
        """The unregistered goals that have a buffer."""
        return tuple(self._unregistered)

    def register(self, goal: SessionId | str) -> InboxBuffer[T]:
        """Return the goal's buffer, with the messages that came before this call. Registering again changes
        nothing."""
        goal = parse_session_id(goal)
        if goal not in self._registered:
            early = self._unregistered.pop(goal, None)
            self._registered[goal] = InboxBuffer(goal, self._warn) if early is None else early
        return self._registered[goal]

    def forget(self, goal: SessionId | str) -> None:
        """Drop the goal's buffer with its messages."""
        goal = parse_session_id(goal)
        self._registered.pop(goal, None)
        self._unregistered.pop(goal, None)

    def put(self, goal: SessionId, message: T) -> None:
        """Add a message for a goal."""
        buffer = self._registered.get(goal, self._unregistered.get(goal))
        if buffer is None:
            if len(self._unregistered) == MAX_UNREGISTERED:
                oldest = next(iter(self._unregistered))
                self._warn(f"{MAX_UNREGISTERED} unregistered goals have mail: that of {oldest} is dropped")
                del self._unregistered[oldest]
            buffer = self._unregistered[goal] = InboxBuffer(goal, self._warn)
        buffer.push(message)


class InboxRouter(Buffers[InboxMessage]):
    """Buffers that are filled from the wire: pass every message on agent.inbox.> to `route`."""

    def __init__(self, warn: Say, debug: Say) -> None:
        super().__init__(warn)
        self._debug = debug

    def route(self, subject: str, payload: bytes) -> None:
        """File a message by its subject. A malformed subject or payload is dropped with a debug line."""
        try:
            goal, message = parse_inbox_subject(subject), parse_inbox_message(payload)
        except Rejected as error:
            self._debug(f"dropped a message on {subject[:80]}: {error.message}")
            return
        self.put(goal, message)
