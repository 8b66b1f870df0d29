"""The reader of an export: it checks every line, and its errors name the number of the line."""

from collections.abc import Mapping
from typing import Final, cast

from covey.core.errors import CoveyError, ExportDamaged, ExportNewer
from covey.core.export_lines import END, FORMAT, MAX_LINE_BYTES, TAIL_BYTES, VERSION, Header, Summary, Totals, tail
from covey.core.json import JsonObject
from covey.core.portable import Record, RecordKind
from covey.core.portable_json import decode_record
from covey.core.times import parse_instant
from covey.core.wire import natural, plain_text, read_json

_RANKS: Final[Mapping[str, int]] = {kind.value: n for n, kind in enumerate(RecordKind)} | {
    RecordKind.BLOB.value: [*RecordKind].index(RecordKind.MESSAGE)
}


class ExportReader:
    """A reader that takes the lines of one export in their order."""

    def __init__(self) -> None:
        self._number = 0
        self._header: Header | None = None
        self._totals = Totals()
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

    def end(self) -> Summary:
        """Return the summary of the export. Raise ExportDamaged if the last line is missing: the export was cut off."""
        self._number += 1
        if self._header is None or not self._is_ended:
            raise self._damage("it is cut off here: the last line, with the counts and hashes, is missing")
        return Summary(self._header, dict(self._totals.counts), self._totals.digest)

    def _first(self, line: bytes) -> Header:
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
            return Header(
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
