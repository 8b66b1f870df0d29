"""Records of a replicated store: a small head, and the rows that a commit has changed.

A head is JSON on one line: the version of this format, the kind of the record, its id, the id of the previous record,
and the topics to ring. The changed rows (rows.py) follow the head, if there are any.
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
"""Smaller records are not compressed here: the server compresses stored records, and no commit waits for that."""

FREE_BYTES: Final = 64 * 1024 * 1024
MAX_RATIO: Final = 100
"""Limit of the expansion: a record may unpack to this many times its size, and to `FREE_BYTES` in any case. A record
that compresses better is not compressed."""

_ENCODER: Final = json.JSONEncoder(separators=(",", ":"))
_DECODER: Final = json.JSONDecoder()
_LEVEL: Final = 1
"""The fastest level, because a commit waits for the compression."""


class Kind(StrEnum):
    ROWS = "rows"
    """Rows that have changed."""
    SCHEMA = "schema"
    """Migrations: from this record on, the tables are those of the named migrations."""


class Record(NamedTuple):
    id: str
    after: str
    """The id of the previous record. It reveals a log that was restored to an earlier state, or that got a record from
    a program with another state."""
    kind: Kind = Kind.ROWS
    topics: Sequence[Topic] = ()
    migrations: Sequence[str] = ()
    rows: Sequence[Row] = ()
    """The changed rows."""


def encode(record: Record) -> bytes:
    """Return the bytes of a record for the log."""
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
    """Return the record of an entry. Raise StoreCorrupt if it is no record, and StoreNewer if its version is newer."""
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
    """Return the limit for the unpacked size of a record. The bytes may come from an untrusted program."""
    return max(FREE_BYTES, MAX_RATIO * len(compressed))


def _expanded(body: bytes, size: int) -> bytes:
    expander = zlib.decompressobj()
    expanded = expander.decompress(body, size)
    if len(expanded) != size or not expander.eof:
        raise ValueError("its content is not as long as it says")
    return expanded
