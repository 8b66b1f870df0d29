"""Tolerant parsers for the fields of foreign files, shared by all layouts. For a value that can't be read, they return
None or raise Invalid."""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import cast

from covey.core.checks import plain
from covey.core.errors import CoveyError, Invalid
from covey.core.formats.layout import EPOCH
from covey.core.json import Json, quote, to_json
from covey.core.ledger.message import Message
from covey.core.ledger.wire import decode_object, read_json
from covey.core.limits import MAX_COUNT, MAX_PAPER_BYTES
from covey.core.names import Scope, Subject, known_scope, known_subject
from covey.core.times import aware

MAX_FOREIGN_CHARS = 1000
"""The longest id or name of a foreign program."""

_MILLIS = 100_000_000_000
"""A larger number counts milliseconds and not seconds: in seconds it would be the year 5138."""


def document_of(content: bytes) -> Mapping[str, Json]:
    """Parse the content of a file as a JSON object."""
    if len(content) > MAX_PAPER_BYTES:
        raise Invalid("file", f"{len(content):,} bytes", f"use at most {MAX_PAPER_BYTES:,}")
    try:
        data = read_json(content.decode("utf-8-sig"))
    except (ValueError, RecursionError):
        raise Invalid("file", content[:40], "it is not JSON") from None
    if not isinstance(data, dict):
        raise Invalid("file", content[:40], "it is not a JSON object")
    return cast(Mapping[str, Json], data)


def name_in(data: Mapping[str, Json], field: str) -> str:
    """Return a required field: the name of an agent."""
    value = data.get(field)
    if not isinstance(value, str) or not 0 < len(value) <= MAX_FOREIGN_CHARS:
        raise Invalid(field, value, "name the agent")
    return value


def id_in(data: Mapping[str, Json], field: str) -> str | None:
    """Return an optional field: an id in any format. Some programs use numbers."""
    value = data.get(field)
    if value is None or value == "":
        return None
    text = str(value) if isinstance(value, int) and not isinstance(value, bool) else value
    if not isinstance(text, str) or len(text) > MAX_FOREIGN_CHARS:
        raise Invalid(field, value, f"use a text of at most {MAX_FOREIGN_CHARS:,} characters")
    return text


def text_in(data: Mapping[str, Json], field: str) -> str | None:
    """Return a field that is a text, or None."""
    value = data.get(field)
    return value if isinstance(value, str) else None


def object_in(data: Mapping[str, Json], field: str) -> Mapping[str, Json]:
    """Return a field that is an object, or an empty mapping."""
    value = data.get(field)
    return value if isinstance(value, Mapping) else {}


def count_of(value: Json) -> int | None:
    """Return a count within the limits, or None."""
    if isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= MAX_COUNT:
        return value
    return None


def instant_of(value: Json) -> datetime | None:
    """Parse an instant from a text or a number of seconds; None if it can't be parsed. Without a zone, it is in UTC."""
    try:
        if isinstance(value, str):
            at = datetime.fromisoformat(value)
            return aware(at.replace(tzinfo=UTC) if at.utcoffset() is None else at)
        if isinstance(value, int | float) and not isinstance(value, bool):
            return EPOCH + timedelta(seconds=value / 1000 if abs(value) > _MILLIS else value)
    except (ValueError, OverflowError, Invalid):
        pass
    return None


def scope_of(value: Json) -> Scope | None:
    """Return a scope, or None if the value is not a valid one."""
    try:
        return known_scope(value)
    except Invalid:
        return None


def subject_of(value: Json) -> Subject | None:
    """Return a subject, or None if the value is not a valid one."""
    try:
        return known_subject(value)
    except Invalid:
        return None


def leftovers(**fields: Json) -> Mapping[str, Json]:
    """Return the fields that a message has no place for, without the empty ones, so that they are not lost."""
    return {name: plain(value, name) for name, value in fields.items() if value not in (None, {})}


OURS = "covey"
"""The field of the envelope. Files of foreign programs do not have it."""


def file_of(fields: Mapping[str, Json], document: str) -> bytes:
    """Return the content of a file: the fields of a layout, whose names need no escapes, and the message as JSON."""
    # Most values are texts, and `quote` is faster for them.
    lines = [
        f'  "{name}": {quote(value) if isinstance(value, str) else to_json(value)}' for name, value in fields.items()
    ]
    lines.append(f'  "{OURS}": {document}')
    return ("{\n" + ",\n".join(lines) + "\n}\n").encode()


def envelope(content: bytes) -> Message | None:
    """Return the message that a file claims to be a copy of, or None. Any program can write such a claim, so callers
    must compare it with the ledger."""
    try:
        return decode_object(object_in(document_of(content), OURS))
    except CoveyError:
        return None
