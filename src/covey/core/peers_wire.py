"""What comes over the peers' wire: subjects and payloads of programs that know nothing else of us, parsed."""

import json
from collections.abc import Mapping
from datetime import datetime
from typing import Any, NamedTuple, cast

from covey.core.errors import Invalid, MessageTooLarge
from covey.core.foreign_names import parse_foreign_name
from covey.core.ids import MessageId, SessionId, derived_message_id, parse_correlation_id, parse_session_id
from covey.core.json import Json
from covey.core.peers import INBOX_SUBJECT_PREFIX, MAX_BODY_BYTES, MIN_BODY_CHARS
from covey.core.times import format_instant, parse_instant

_MOST_BYTES = 8 * MAX_BODY_BYTES
"""A body may be longer on the wire than it is: up to six bytes for one in JSON. What is longer is not looked at."""


_ENVELOPE = frozenset({"id", "timestamp", "topic", "source", "payload"})
"""The fields by which an envelope is known; session_id may be missing."""


class InboxMessage(NamedTuple):
    """A message as the wire has it."""

    from_agent_id: str
    """The name that the program gives itself. It need not be one that an agent here can have."""
    from_goal_id: SessionId
    to_agent_id: str
    body: str
    sent_at: datetime
    correlation_id: str | None = None
    is_enveloped: bool = False
    """Whether it came in an envelope."""

    def payload(self) -> bytes:
        """Return the message as it travels; without a correlation id where there is none."""
        fields: dict[str, Json] = {**self._asdict(), "sent_at": format_instant(self.sent_at)}
        del fields["is_enveloped"]
        if self.correlation_id is None:
            del fields["correlation_id"]
        return json.dumps(fields, ensure_ascii=False).encode()


def parse_inbox_subject(subject: str) -> SessionId:
    """Return whose inbox a subject is."""
    prefix, _, goal = subject.rpartition(".")
    if prefix != INBOX_SUBJECT_PREFIX:
        raise Invalid("subject", subject[:80], f"an inbox is {INBOX_SUBJECT_PREFIX}.<uuid>")
    return parse_session_id(goal)


def parse_inbox_message(payload: bytes) -> InboxMessage:
    """Return the message of a payload, which may be in an envelope. Fields that we do not know are left alone; anything
    else that is not as agreed is Invalid or MessageTooLarge."""
    if len(payload) > _MOST_BYTES:
        raise MessageTooLarge(len(payload), MAX_BODY_BYTES)
    outer = _fields(payload)
    fields = _unwrapped(outer)
    body, to = fields.get("body"), fields.get("to_agent_id")
    if not isinstance(body, str) or len(body) < MIN_BODY_CHARS:
        raise Invalid("body", None if body is None else "", "a body is a text of at least 1 character")
    try:
        size = len(body.encode())
    except UnicodeEncodeError:  # half of a pair of surrogates, which JSON can carry and UTF-8 can't
        raise Invalid("body", "…", "it has characters that are none") from None
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
    """Return the id of the message that arrived as the `seq`-th of a stream, the same for everybody who finds it."""
    from hashlib import sha256  # here because it brings OpenSSL

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
