"""Portable records as JSON objects: one shape for each kind, whatever engine they come from.

A missing field is None. Instants are texts, spans are whole microseconds, contents of files base64. Some fields are
left out: the hash of a session's secret, the holder of a session or a post, and the folder of a run.
"""

from base64 import b64decode, b64encode
from collections.abc import Mapping
from datetime import datetime, timedelta
from enum import StrEnum
from hashlib import sha256
from typing import Final, NamedTuple, cast

from covey.core.address import Address, SessionKey
from covey.core.channels.binding import Binding
from covey.core.channels.post import Post
from covey.core.directory.capacity import Capacity
from covey.core.directory.card import Card, encode_card
from covey.core.directory.session import Holder, Session
from covey.core.directory.token import Token
from covey.core.errors import Invalid
from covey.core.formats import portable_forms as forms
from covey.core.formats.portable import Blob, FiledMessage, NumberedAgent, PrunedMessages, Record, RecordKind, Setting
from covey.core.formats.portable_forms import RUN, Form, json_object, parse_delivery_id, read_form
from covey.core.identity import Identity
from covey.core.ids import MessageId, delivery_message
from covey.core.json import Json, JsonObject
from covey.core.ledger.delivery import Delivery
from covey.core.ledger.event import Event
from covey.core.ledger.offer import Offer
from covey.core.ledger.ticket import Ticket
from covey.core.ledger.wire import decode_object, encode_object, flag, natural, plain_text
from covey.core.times import format_instant
from covey.core.work.run import Run
from covey.core.work.task import Task

_MICROSECOND: Final = timedelta(microseconds=1)
_LEFT_OUT: Final = {"folder", "holder", "secret_hash"}

_KINDS: Final[Mapping[type[Record], RecordKind]] = {
    NumberedAgent: RecordKind.AGENT,
    Setting: RecordKind.SETTING,
    Token: RecordKind.TOKEN,
    Event: RecordKind.EVENT,
    Session: RecordKind.SESSION,
    Offer: RecordKind.OFFER,
    PrunedMessages: RecordKind.PRUNED,
    Blob: RecordKind.BLOB,
    FiledMessage: RecordKind.MESSAGE,
    Ticket: RecordKind.TICKET,
    Delivery: RecordKind.DELIVERY,
    Task: RecordKind.TASK,
    Binding: RecordKind.BINDING,
    Post: RecordKind.POST,
    Run: RecordKind.RUN,
}
_FORMS: Final[Mapping[RecordKind, Form]] = {
    RecordKind.SETTING: forms.SETTING,
    RecordKind.TOKEN: forms.TOKEN,
    RecordKind.EVENT: forms.EVENT,
    RecordKind.OFFER: forms.OFFER,
    RecordKind.PRUNED: forms.PRUNED,
    RecordKind.TICKET: forms.TICKET,
    RecordKind.TASK: forms.TASK,
    RecordKind.BINDING: forms.BINDING,
    RecordKind.RUN: RUN,
}
"""The forms of the kinds that need no special treatment."""


def kind_of(record: Record) -> RecordKind:
    """Return the kind of a record."""
    return _KINDS[type(record)]


def encode_record(record: Record) -> JsonObject:
    """Return the record as JSON data."""
    match record:
        case Blob(digest, content):
            return {"digest": digest, "content": b64encode(content).decode()}
        case FiledMessage(message, is_swept):
            return {"message": encode_object(message), "is_swept": is_swept}
        case NumberedAgent(agent, numbered):
            return {**_fields(agent), "numbered": numbered}
        case _:
            return _fields(record)


def decode_record(kind: RecordKind, data: JsonObject) -> Record:
    """Parse a record from JSON data. Raise Invalid if a field is wrong."""
    match kind:
        case RecordKind.BLOB:
            return _blob(data)
        case RecordKind.MESSAGE:
            return FiledMessage(decode_object(json_object(data.get("message"))), flag(data.get("is_swept", False)))
        case RecordKind.AGENT:
            return NumberedAgent(read_form(forms.AGENT, data), natural(data.get("numbered", 0)))
        case RecordKind.SESSION:
            return read_form(forms.SESSION, data, holder=Holder(), secret_hash="")
        case RecordKind.DELIVERY:
            return read_form(forms.DELIVERY, data, message_id=_message_of(data))
        case RecordKind.POST:
            return read_form(forms.POST, data, message_id=_message_of(data))
        case _:
            return read_form(_FORMS[kind], data)


def _message_of(data: JsonObject) -> MessageId:
    return delivery_message(parse_delivery_id(data.get("id")))


def _fields(record: NamedTuple) -> dict[str, Json]:
    """Return the fields that have a value, by name. Defaults are written too: a later version may have others."""
    fields = record._asdict().items()
    return {name: _plain(value) for name, value in fields if value is not None and name not in _LEFT_OUT}


def _plain(value: object) -> Json:
    match value:
        case datetime():
            return format_instant(value)
        case timedelta():
            return value // _MICROSECOND
        case Card():
            return encode_card(value)
        case SessionKey() | StrEnum() | Address():
            return str(value)
        case Identity() | Capacity():
            return _fields(value)
        case tuple():
            return [_plain(item) for item in cast(tuple[object, ...], value)]
        case _:
            return cast(Json, value)


def _blob(data: JsonObject) -> Blob:
    digest = plain_text(data.get("digest"))
    try:
        content = b64decode(plain_text(data.get("content")), validate=True)
    except ValueError:
        raise Invalid("content", data.get("content"), "use base64") from None
    if sha256(content).hexdigest() != digest:
        raise Invalid("digest", digest, "it is not that of the content")
    return Blob(digest, content)
