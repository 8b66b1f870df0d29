"""An export, line by line: a header, the records in their order, and a last line with their counts and hashes.

Each line is a JSON object whose last field, `sum`, is the beginning of the SHA-256 of the line without that field. So a
line that was changed is found by its number. The hashes in the last line find lines that are missing, too many or in
another order.
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
"""Of the form that is written. Older ones can be read."""

WITH_TASKS: Final = 2
"""The first version that has records of tasks, bindings and posts. Runs came with the third."""

END: Final = "end"

MAX_LINE_BYTES: Final = 128 * 1024 * 1024
"""More than the largest file takes up as base64."""

_write = json.JSONEncoder(ensure_ascii=False, allow_nan=False, check_circular=False, separators=(",", ":")).encode
_SUM_DIGITS: Final = 16


class Header(NamedTuple):
    """Where an export comes from."""

    position: int
    """Of the newest event in it."""
    exported_at: datetime
    program: str
    """The version of Covey that wrote it."""
    version: int = VERSION
    """Of the form that it has."""


class Summary(NamedTuple):
    """A whole export."""

    header: Header
    counts: Mapping[str, int]
    """How many records of each kind there are."""
    digest: str
    """The hash over all records: the same for two exports of a space in which nothing has happened."""

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
        """Return what the last line says."""
        kinds = {
            kind: {"count": count, "sha256": self._hashes[RecordKind(kind)].hexdigest()}
            for kind, count in self.counts.items()
        }
        return {"record": END, "kinds": kinds, "sha256": self.digest}


class LineWriter:
    """Makes the lines of one export."""

    def __init__(self) -> None:
        self.totals = Totals()

    def header(self, header: Header) -> bytes:
        """Return the first line."""
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
        """Return the last line."""
        return _line(self.totals.document())


def _line(document: JsonObject) -> bytes:
    body = _write(document).encode()[:-1]
    return body + tail(body)


def tail(body: bytes) -> bytes:
    """Return how a line ends that begins with `body`."""
    return f',"sum":"{sha256(body).hexdigest()[:_SUM_DIGITS]}"}}\n'.encode()


TAIL_BYTES: Final = len(tail(b""))
