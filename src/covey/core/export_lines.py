"""The lines of an export: a header, the records in their order, and a last line with their counts and hashes.

Each line is a JSON object whose last field, `sum`, is the beginning of the SHA-256 of the line without that field. So a
reader can name the number of a line that was changed. The hashes in the last line reveal missing, extra and reordered
lines.
"""

import json
from collections.abc import Mapping
from datetime import datetime
from hashlib import sha256
from typing import Final, NamedTuple

from covey.core.json import JsonObject
from covey.core.portable import Record, RecordKind
from covey.core.portable_json import encode_record, kind_of
from covey.core.times import format_instant

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


class Header(NamedTuple):
    """The header of an export: its origin and format."""

    position: int
    """The position of the newest event in the export."""
    exported_at: datetime
    program: str
    """The version of Covey that wrote the export."""
    version: int = VERSION
    """The version of the format."""


class Summary(NamedTuple):
    """The summary of a whole export."""

    header: Header
    counts: Mapping[str, int]
    """The number of records of each kind."""
    digest: str
    """The hash over all records. Two exports have the same hash if nothing has happened in the space between them."""

    @property
    def records(self) -> int:
        return sum(self.counts.values())


class Totals:
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
        self.totals = Totals()

    def header(self, header: Header) -> bytes:
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
