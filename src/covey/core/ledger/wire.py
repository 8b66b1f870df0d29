"""Messages as JSON: strict on our own fields, tolerant of foreign ones.

This module is the one source of a message's JSON shape: `_text` writes every field and `decode_object` reads every
field. The store's document is the text; exports and the CLI's `--json` are made from `encode_object`.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from enum import StrEnum
from functools import lru_cache
from math import isfinite
from typing import Final, TypeVar, cast

from covey.core.errors import Invalid, MessageTooLarge
from covey.core.identity import Address, Grade, Identity, parse_address
from covey.core.json import Json, quote, to_json
from covey.core.ledger.marks import decode_marks, encode_marks
from covey.core.ledger.message import Callback, DataPart, FilePart, Kind, Message, Part, TaskRef, TextPart
from covey.core.limits import MAX_ENVELOPE_BYTES
from covey.core.names import (
    known_scope,
    known_subject,
    parse_agent_name,
    parse_correlation_id,
    parse_message_id,
    parse_session_id,
)
from covey.core.times import format_instant, parse_instant

T = TypeVar("T")
E = TypeVar("E", bound=StrEnum)

WIRE_VERSION = 1

_NAMES: Final = {"sender": "from", "hops_left": "ttl"}

FIELDS: Final = tuple(_NAMES.get(name, name) for name in Message._fields)
"""The names of a message's fields in JSON, in the order of the record. A message on the wire also has "v"."""


def _finite(text: str) -> float:
    """Parse a number. Raise ValueError for infinity and NaN, which JSON does not have."""
    number = float(text)
    if not isfinite(number):
        raise ValueError(text)
    return number


_read = json.JSONDecoder(parse_constant=_finite, parse_float=_finite).decode


def encode(message: Message) -> str:
    """Return the message as one line of JSON, without absent fields, and without a thread or root of its own id."""
    try:
        text = _text(message)
        size = len(text.encode())
    except UnicodeEncodeError:
        raise Invalid("text", "…", "it has characters that are not valid Unicode") from None
    except (TypeError, ValueError, RecursionError) as error:
        raise Invalid("message", str(error), "its data can't be written as JSON") from None
    if size > MAX_ENVELOPE_BYTES:
        raise MessageTooLarge(size, MAX_ENVELOPE_BYTES)
    return text


def encode_object(message: Message) -> dict[str, Json]:
    """Return the message as JSON data: the same fields that `encode` writes."""
    return cast(dict[str, Json], json.loads(_text(message)))


def _text(message: Message) -> str:
    """Return the JSON of a message: the fields that every message has, then the optional ones. The former are formatted
    by hand, because they are a good part of the cost of a send: ids, names, addresses and times were parsed before, and
    need no escapes."""
    (
        message_id,
        kind,
        sender,
        to,
        parts,
        created_at,
        thread,
        root,
        subject,
        scope,
        round_,
        cause,
        in_reply_to,
        correlation_id,
        expects_reply,
        hops_left,
        trace,
        task,
        callback,
        deadline,
        expires_at,
        traceparent,
        metadata,
        depth,
        marks,
    ) = message  # unpacked at once, because access by name takes five times as long
    addresses = '","'.join([address.value for address in to])
    passed = '","'.join(trace)
    content = ",".join([_part_text(part) for part in parts])
    head = (
        f'{{"v":{WIRE_VERSION},"id":"{message_id}","kind":"{kind!s}","from":{_sender_text(sender)},'
        f'"to":[{_quoted(addresses)}],"created_at":"{format_instant(created_at)}",'
        f'"expects_reply":{"true" if expects_reply else "false"},"ttl":{hops_left:d},'
        f'"trace":[{_quoted(passed)}],"parts":[{content}]'
    )
    fields: dict[str, Json] = {}
    if thread != message_id:
        fields["thread"] = thread
    if root != message_id:
        fields["root"] = root
    if subject is not None:
        fields["subject"] = subject
    if scope is not None:
        fields["scope"] = scope
    if round_ is not None:
        fields["round"] = round_
    if cause is not None:
        fields["cause"] = cause
    if in_reply_to is not None:
        fields["in_reply_to"] = in_reply_to
    if correlation_id is not None:
        fields["correlation_id"] = correlation_id
    if task is not None:
        fields["task"] = {"id": task.id, "state": task.state}
    if callback is not None:
        more = cast(dict[str, Json], json.loads(callback.more or "{}"))
        fields["callback"] = {**more, "channel": callback.channel, "session_id": callback.session_id}
    if deadline is not None:
        fields["deadline"] = format_instant(deadline)
    if expires_at is not None:
        fields["expires_at"] = format_instant(expires_at)
    if traceparent is not None:
        fields["traceparent"] = traceparent
    if metadata:
        fields["metadata"] = metadata
    if depth:
        fields["depth"] = depth
    if marks is not None:
        fields["marks"] = encode_marks(marks)
    return f"{head},{to_json(fields)[1:]}" if fields else f"{head}}}"


@lru_cache(maxsize=256)
def _sender_text(sender: Identity) -> str:
    session = f',"session":"{sender.session}"' if sender.session else ""
    return f'{{"agent":"{sender.agent}"{session},"grade":"{sender.grade!s}"}}'


def _quoted(joined: str) -> str:
    return f'"{joined}"' if joined else ""


def _part_text(part: Part) -> str:
    return f'{{"type":"text","text":{quote(part.text)}}}' if isinstance(part, TextPart) else to_json(encode_part(part))


def decode(document: str | bytes) -> Message:
    """Parse a message from a line of JSON."""
    try:
        size = len(document) if isinstance(document, bytes) else len(document.encode())
        if size > MAX_ENVELOPE_BYTES:
            raise MessageTooLarge(size, MAX_ENVELOPE_BYTES)
        text = document.decode() if isinstance(document, bytes) else document
        data = read_json(text)
    except (ValueError, RecursionError):
        raise Invalid("message", document[:40], "it is not JSON") from None
    if not isinstance(data, dict):
        raise Invalid("message", data, "it is not a JSON object")
    return decode_object(cast(Mapping[str, Json], data))


def read_json(text: str) -> object:
    """Parse JSON. Raise ValueError if the text is not JSON that every reader accepts, and RecursionError if it is
    nested too deep."""
    data: object = _read(text)
    if "\\u" in text:
        # An escape can stand for a lone surrogate, which no store and no terminal accepts.
        to_json(data).encode()
    return data


def encode_part(part: Part) -> Json:
    """Return one part of a message as JSON data."""
    if isinstance(part, TextPart):
        return {"type": "text", "text": part.text}
    if isinstance(part, DataPart):
        return {"type": "data", "data": part.data}
    return {
        "type": "file",
        "name": part.name,
        "digest": part.digest,
        "size": part.size,
        "media_type": part.media_type,
        "path": part.path,
    }


def decode_object(data: Mapping[str, Json]) -> Message:
    """Parse a message from JSON data."""
    if data.get("v", WIRE_VERSION) != WIRE_VERSION:
        raise Invalid("v", data.get("v"), f"this program knows version {WIRE_VERSION}")
    message_id = _required(data, "id", parse_message_id)
    return Message(
        id=message_id,
        kind=_required(data, "kind", member(Kind)),
        sender=_decode_sender(_object(data, "from")),
        to=tuple(_decode_address(item) for item in _list(data, "to")),
        parts=tuple(_decode_part(item) for item in _list(data, "parts")),
        created_at=_required(data, "created_at", parse_instant),
        thread=_optional(data, "thread", parse_message_id) or message_id,
        root=_optional(data, "root", parse_message_id) or message_id,
        subject=_optional(data, "subject", known_subject),
        scope=_optional(data, "scope", known_scope),
        round=_optional(data, "round", natural),
        cause=_optional(data, "cause", parse_message_id),
        in_reply_to=_optional(data, "in_reply_to", parse_message_id),
        correlation_id=_optional(data, "correlation_id", parse_correlation_id),
        expects_reply=_optional(data, "expects_reply", flag) or False,
        hops_left=_optional(data, "ttl", natural) or 0,
        trace=tuple(parse_agent_name(item) for item in _list(data, "trace")),
        task=_decode_task(data),
        callback=_decode_callback(data),
        deadline=_optional(data, "deadline", parse_instant),
        expires_at=_optional(data, "expires_at", parse_instant),
        traceparent=_optional(data, "traceparent", plain_text),
        metadata=_object(data, "metadata"),
        depth=_optional(data, "depth", natural) or 0,
        marks=decode_marks(_object(data, "marks")) if "marks" in data else None,
    )


def _decode_sender(data: Mapping[str, Json]) -> Identity:
    return Identity(
        _required(data, "agent", parse_agent_name),
        _optional(data, "session", parse_session_id),
        _required(data, "grade", member(Grade)),
    )


def _decode_address(item: Json) -> Address:
    return parse_address(item)


def _decode_part(item: Json) -> Part:
    if not isinstance(item, Mapping):
        raise Invalid("part", item, "use an object with a type")
    match item.get("type"):
        case "text":
            return TextPart(_required(item, "text", plain_text))
        case "data":
            if "data" not in item:
                raise Invalid("part", item, "a data part has data")
            return DataPart(item["data"])
        case "file":
            media_type = _optional(item, "media_type", plain_text)
            return FilePart(
                _required(item, "name", plain_text),
                _required(item, "digest", plain_text),
                _required(item, "size", natural),
                "application/octet-stream" if media_type is None else media_type,
                _optional(item, "path", plain_text),
            )
        case other:
            raise Invalid("part type", other, "use text, data or file")


def _decode_task(data: Mapping[str, Json]) -> TaskRef | None:
    task = data.get("task")
    if task is None:
        return None
    fields = _object(data, "task")
    return TaskRef(_required(fields, "id", plain_text), _optional(fields, "state", plain_text))


def _decode_callback(data: Mapping[str, Json]) -> Callback | None:
    if data.get("callback") is None:
        return None
    fields = _object(data, "callback")
    channel, session_id = _required(fields, "channel", plain_text), _required(fields, "session_id", plain_text)
    return Callback(channel, session_id, more_of(fields))


def more_of(fields: Mapping[str, Json]) -> str:
    """Return the unknown fields of a callback as the text of a JSON object; empty if there are none."""
    more = {name: value for name, value in fields.items() if name not in ("channel", "session_id")}
    return to_json(more) if more else ""


def _required(data: Mapping[str, Json], name: str, parse: Callable[[object], T]) -> T:
    if data.get(name) is None:
        raise Invalid(name, None, "every message has this field")
    return parse(data[name])


def _optional(data: Mapping[str, Json], name: str, parse: Callable[[object], T]) -> T | None:
    value = data.get(name)
    return None if value is None else parse(value)


def _object(data: Mapping[str, Json], name: str) -> Mapping[str, Json]:
    value = data.get(name)
    if value is None:
        return {}
    if not isinstance(value, Mapping):
        raise Invalid(name, value, "use a JSON object")
    return value


def _list(data: Mapping[str, Json], name: str) -> Sequence[Json]:
    value = data.get(name)
    if value is None:
        return ()
    if isinstance(value, str) or not isinstance(value, Sequence):
        raise Invalid(name, value, "use a JSON list")
    return value


def plain_text(value: object) -> str:
    """Parse a field that is a text."""
    if not isinstance(value, str):
        raise Invalid("text", value, "use a text")
    return value


def flag(value: object) -> bool:
    """Parse a field that is true or false."""
    if not isinstance(value, bool):
        raise Invalid("flag", value, "use true or false")
    return value


def natural(value: object) -> int:
    """Parse a field that is a whole number, exact in every JSON reader."""
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value < 2**53:
        raise Invalid("number", value, "use a whole number from 0, exact in every JSON reader (under 2^53)")
    return value


def member(kind: type[E]) -> Callable[[object], E]:
    """Return a parser for a field that is a member of an enum."""

    def parse(value: object) -> E:
        try:
            return kind(value)
        except ValueError:
            raise Invalid(_words(kind.__name__), value, "use " + ", ".join(kind)) from None

    return parse


def _words(name: str) -> str:
    """Return the name of a class as words: "delivery state" for DeliveryState."""
    return "".join(f" {letter.lower()}" if letter.isupper() else letter for letter in name).strip()
