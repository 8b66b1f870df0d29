"""Records of a replicated store: a small head, and the rows that a commit has changed.

A head is JSON on one line: the version of this form, the kind of record, its id, the id of the record before it, the
topics to ring. What follows are rows (replica_rows.py), or nothing.
"""

import json
import zlib
from collections.abc import Sequence
from enum import StrEnum
from typing import Any, Final, NamedTuple

from covey.adapters.sqlite.replica.rows import Row, decode_rows, encode_rows
from covey.core.errors import StoreCorrupt, StoreNewer
from covey.core.ids import Topic

VERSION: Final = 1

COMPRESSED_FROM: Final = 16 * 1024
"""Smaller records are left as they are: the server compresses what it keeps, and nobody waits for that."""

FREE_BYTES: Final = 64 * 1024 * 1024
MAX_RATIO: Final = 100
"""A record may unpack to this many times its size, and to `FREE_BYTES` in any case. What compresses better than that is
left as it is."""

_ENCODER: Final = json.JSONEncoder(separators=(",", ":"))
_DECODER: Final = json.JSONDecoder()
_LEVEL: Final = 1
"""The quickest: a commit waits for it."""


class Kind(StrEnum):
    ROWS = "rows"
    """Rows that have changed."""
    SCHEMA = "schema"
    """From here on the tables are those of the migrations that it names."""


class Record(NamedTuple):
    id: str
    after: str
    """The id of the record before it: a log that was put back to an earlier state, or was written to by somebody who
    had another state, is found out by it."""
    kind: Kind = Kind.ROWS
    topics: Sequence[Topic] = ()
    migrations: Sequence[str] = ()
    rows: Sequence[Row] = ()
    """What has changed."""


def encode(record: Record) -> bytes:
    """Return a record as it stands in the log."""
    head: dict[str, Any] = {"v": VERSION, "kind": record.kind, "id": record.id, "after": record.after}
    if record.topics:
        head["topics"] = list(record.topics)
    if record.migrations:
        head["migrations"] = list(record.migrations)
    body = encode_rows(record.rows) if record.rows else b""
    if len(body) >= COMPRESSED_FROM:
        compressed = zlib.compress(body, _LEVEL)
        if len(compressed) < len(body) <= _most(compressed):
            head["zlib"] = len(body)
            body = compressed
    return b"".join((_ENCODER.encode(head).encode(), b"\n", body))


def decode(log: str, document: bytes) -> Record:
    """Return the record of an entry. What is none is StoreCorrupt, and one of a newer form StoreNewer."""
    line, _, body = document.partition(b"\n")
    try:
        head = _DECODER.decode(line.decode())
        version = int(head["v"])
        if version > VERSION:
            raise StoreNewer(log, [f"record version {version}"])
        size = head.get("zlib")
        if size is not None:
            if int(size) > _most(body):
                raise ValueError(f"it unpacks to {size} bytes")
            body = _expanded(body, int(size))
        topics = [Topic(str(topic)) for topic in head.get("topics", ())]
        migrations = [str(name) for name in head.get("migrations", ())]
        rows = decode_rows(body) if body else ()
        return Record(str(head["id"]), str(head["after"]), Kind(head["kind"]), topics, migrations, rows)
    except (ValueError, KeyError, TypeError, AttributeError, ArithmeticError, RecursionError, zlib.error) as error:
        raise StoreCorrupt(log, f"an entry of it is no record of Covey ({error})") from error


def _most(compressed: bytes) -> int:
    """Return to how many bytes a record may be unpacked: anybody may have written it."""
    return max(FREE_BYTES, MAX_RATIO * len(compressed))


def _expanded(body: bytes, size: int) -> bytes:
    expander = zlib.decompressobj()
    expanded = expander.decompress(body, size)
    if len(expanded) != size or not expander.eof:
        raise ValueError("its content is not as long as it says")
    return expanded
