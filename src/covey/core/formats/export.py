"""The lines of an export: a header, the records in their order, and a last line with their counts and hashes.

Each line is a JSON object whose last field, `sum`, is the beginning of the SHA-256 of the line without that field. So a
reader can name the number of a line that was changed. The hashes in the last line reveal missing, extra and reordered
lines.

A record has one shape for each kind, whatever engine it comes from. A missing field is None. Instants are texts, spans
are whole microseconds, contents of files base64. Some fields are left out: the hash of a session's secret, the holder
of a session or a post, and the folder of a run.
"""

import json
from base64 import b64decode, b64encode
from collections.abc import Mapping
from datetime import datetime, timedelta
from enum import StrEnum
from hashlib import sha256
from typing import Final, NamedTuple, cast

from covey.core.channels.post import Binding, Post
from covey.core.directory.card import Capacity, Card, encode_card
from covey.core.directory.session import Holder, Session
from covey.core.errors import CoveyError, ExportDamaged, ExportNewer, Invalid
from covey.core.formats import portable as forms
from covey.core.formats.portable import (
    RUN,
    Blob,
    FiledMessage,
    NumberedAgent,
    PrunedMessages,
    Record,
    RecordForm,
    RecordKind,
    Setting,
    json_object,
    parse_delivery_id,
    read_form,
)
from covey.core.identity import Address, Identity, SessionKey, Token
from covey.core.json import Json, JsonObject
from covey.core.ledger.delivery import DeliveryRecord
from covey.core.ledger.event import Event
from covey.core.ledger.offer import Offer
from covey.core.ledger.ticket import Ticket
from covey.core.ledger.wire import decode_object, encode_object, flag, natural, plain_text, read_json
from covey.core.names import MessageId, delivery_message
from covey.core.times import format_instant, parse_instant
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
    DeliveryRecord: RecordKind.DELIVERY,
    Task: RecordKind.TASK,
    Binding: RecordKind.BINDING,
    Post: RecordKind.POST,
    Run: RecordKind.RUN,
}
_FORMS: Final[Mapping[RecordKind, RecordForm]] = {
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
        raise Invalid("digest", digest, "it is not the digest of the content")
    return Blob(digest, content)


FORMAT: Final = "covey-export"
VERSION: Final = 3
"""The version of the format that is written. Older versions can be read."""

WITH_TASKS: Final = 2
"""The first version that has records of tasks, bindings and posts. Runs came with the third."""

END: Final = "end"

MAX_LINE_BYTES: Final = 128 * 1024 * 1024
"""The longest line. The largest file takes less as base64."""

_write = json.JSONEncoder(ensure_ascii=False, allow_nan=False, check_circular=False, separators=(",", ":")).encode
_SUM_DIGITS: Final = 16


class ExportHeader(NamedTuple):
    """The header of an export: its origin and format."""

    position: int
    """The position of the newest event in the export."""
    exported_at: datetime
    program: str
    """The version of Covey that wrote the export."""
    version: int = VERSION
    """The version of the format."""


class ExportSummary(NamedTuple):
    """The summary of a whole export."""

    header: ExportHeader
    counts: Mapping[str, int]
    """The number of records of each kind."""
    digest: str
    """The hash over all records. Two exports have the same hash if nothing has happened in the space between them."""

    @property
    def records(self) -> int:
        return sum(self.counts.values())


class ExportTotals:
    """Counts and hashes, kept while lines are written or read."""

    def __init__(self) -> None:
        self.counts: dict[str, int] = {}
        self._hashes = {kind: sha256() for kind in RecordKind}
        self._all = sha256()

    def add(self, kind: RecordKind, line: bytes) -> None:
        """Count one line."""
        self.counts[kind.value] = self.counts.get(kind.value, 0) + 1
        self._hashes[kind].update(line)
        self._all.update(line)

    @property
    def digest(self) -> str:
        return self._all.hexdigest()

    def document(self) -> JsonObject:
        """Return the last line as JSON data: the counts and hashes."""
        kinds = {
            kind: {"count": count, "sha256": self._hashes[RecordKind(kind)].hexdigest()}
            for kind, count in self.counts.items()
        }
        return {"record": END, "kinds": kinds, "sha256": self.digest}


class LineWriter:
    """A writer for the lines of one export."""

    def __init__(self) -> None:
        self.totals = ExportTotals()

    def header(self, header: ExportHeader) -> bytes:
        """Return the first line, with the header."""
        return _line(
            {
                "format": FORMAT,
                "version": header.version,
                "position": header.position,
                "exported_at": format_instant(header.exported_at),
                "program": header.program,
            }
        )

    def record(self, record: Record) -> bytes:
        """Return the line of a record."""
        kind = kind_of(record)
        line = _line({"record": kind.value, **encode_record(record)})
        self.totals.add(kind, line)
        return line

    def end(self) -> bytes:
        """Return the last line, with counts and hashes."""
        return _line(self.totals.document())


def _line(document: JsonObject) -> bytes:
    body = _write(document).encode()[:-1]
    return body + tail(body)


def tail(body: bytes) -> bytes:
    """Return the end of a line that begins with `body`: its checksum."""
    return f',"sum":"{sha256(body).hexdigest()[:_SUM_DIGITS]}"}}\n'.encode()


TAIL_BYTES: Final = len(tail(b""))

_RANKS: Final[Mapping[str, int]] = {kind.value: n for n, kind in enumerate(RecordKind)} | {
    RecordKind.BLOB.value: [*RecordKind].index(RecordKind.MESSAGE)
}


class ExportReader:
    """A reader that takes the lines of one export in their order."""

    def __init__(self) -> None:
        self._number = 0
        self._header: ExportHeader | None = None
        self._totals = ExportTotals()
        self._rank = 0
        self._is_ended = False

    def take(self, line: bytes) -> Record | None:
        """Return the record of the next line; None for the first line and the last one."""
        self._number += 1
        if self._is_ended:
            raise self._damage("something follows after the end")
        if self._header is None:
            self._header = self._first(line)
            return None
        data = self._checked(line)
        if data.get("record") == END:
            self._last(data)
            return None
        return self._record(data, line)

    def end(self) -> ExportSummary:
        """Return the summary of the export. Raise ExportDamaged if the last line is missing: the export was cut off."""
        self._number += 1
        if self._header is None or not self._is_ended:
            raise self._damage("it is cut off here: the last line, with the counts and hashes, is missing")
        return ExportSummary(self._header, dict(self._totals.counts), self._totals.digest)

    def _first(self, line: bytes) -> ExportHeader:
        try:
            data = read_json(line.decode())
        except (ValueError, RecursionError):
            data = None
        if not isinstance(data, Mapping) or cast(JsonObject, data).get("format") != FORMAT:
            raise self._damage("it is not an export of Covey")
        document = cast(JsonObject, data)
        version = document.get("version")
        if isinstance(version, int) and version > VERSION:
            raise ExportNewer(version, VERSION)
        if not isinstance(version, int) or version < 1:
            raise self._damage(f"there is no version {version} of exports")
        self._checked(line)
        try:
            return ExportHeader(
                natural(document.get("position")),
                parse_instant(document.get("exported_at")),
                plain_text(document.get("program")),
                version,
            )
        except CoveyError as error:
            raise self._damage(error.message) from None

    def _checked(self, line: bytes) -> JsonObject:
        """Return the JSON object of a line after checking its checksum."""
        if not line.endswith(b"\n"):
            raise self._damage("the line is too long" if len(line) >= MAX_LINE_BYTES else "the line is cut off")
        body, end = line[:-TAIL_BYTES], line[-TAIL_BYTES:]
        if end != tail(body):
            raise self._damage("its checksum is wrong: the line was changed")
        try:
            data = read_json(line.decode())
        except (ValueError, RecursionError):
            raise self._damage("it is not JSON") from None
        if not isinstance(data, Mapping):
            raise self._damage("it is not a JSON object")
        return cast(JsonObject, data)

    def _record(self, data: JsonObject, line: bytes) -> Record:
        kind = data.get("record")
        rank = _RANKS.get(kind) if isinstance(kind, str) else None
        if rank is None:
            raise self._damage(f"{kind!r} is no kind of record")
        if rank < self._rank:
            raise self._damage(f"a record of kind {kind} comes too late")
        self._rank = rank
        try:
            record = decode_record(RecordKind(kind), data)
        except CoveyError as error:
            raise self._damage(error.message) from None
        except (ValueError, LookupError, TypeError, AttributeError, ArithmeticError, RecursionError) as error:
            raise self._damage(f"a record of kind {kind} can't be read: {error}") from None
        self._totals.add(RecordKind(kind), line)
        return record

    def _last(self, data: JsonObject) -> None:
        found = self._totals.document()
        if data.get("kinds") != found["kinds"]:
            raise self._damage(f"the counts or hashes of {self._differing(data)} are not those of the lines above")
        if data.get("sha256") != found["sha256"]:
            raise self._damage("the lines above are not in the order in which they were written")
        self._is_ended = True

    def _differing(self, data: JsonObject) -> str:
        """Return the kinds of record whose counts or hashes differ from the last line."""
        found, said = self._totals.document()["kinds"], data.get("kinds")
        if not isinstance(found, Mapping) or not isinstance(said, Mapping):
            return "the records"
        return ", ".join(kind for kind in RecordKind if found.get(kind) != said.get(kind)) or "the records"

    def _damage(self, reason: str) -> ExportDamaged:
        return ExportDamaged(self._number, reason)
