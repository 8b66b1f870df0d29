"""The parser for the peers' wire: subjects and payloads of foreign programs."""

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
