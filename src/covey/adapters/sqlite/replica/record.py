"""Records of a replicated store: a small head, and the rows that a commit has changed.

A head is JSON on one line: the version of this format, the kind of the record, its id, the id of the previous record,
and the topics to ring. The changed rows follow the head, if there are any. Another database applies them.
"""

import json
import re
import zlib
from collections.abc import Mapping, Sequence
from enum import StrEnum
from operator import itemgetter
from typing import Any, Final, NamedTuple, cast

import apsw

from covey.adapters.sqlite.engine.access import on_one_cursor, statements
from covey.core.errors import StoreCorrupt, StoreNewer
from covey.core.names import Topic

LOCAL_TABLES: Final = frozenset({"replica", "migrations"})
"""Tables that each replica keeps for itself."""

_TABLES: Final = statements("replica")["tables"]
_INSERT: Final = re.compile(r"insert into (\w+) \(([\w, ]+)\) values \(\?(?:, \?)*\)")


class TableColumn(NamedTuple):
    name: str
    kind: str
    place: int
    """Place in the primary key, counted from 1; 0 if the column is not part of the key."""
    default: str | None
    """Default value of the column, as SQL."""


class TableLayout(NamedTuple):
    """The layout of a table."""

    table: str
    columns: Sequence[str]
    key: Sequence[int]
    """The places of the primary key, if the table has no rowid."""
    rowid: int | None
    """The place of the column that is the rowid, if there is one."""
    has_hidden_rowid: bool
    """True if the table has a rowid that is none of its columns."""
    insert: str
    """The statement that inserts a row."""
    defaults: Sequence[str | None]


class PlainInsert(NamedTuple):
    """A statement that only inserts one row, whose values are the values of the statement."""

    table: str
    rest: tuple[Any, ...]
    """Default values of the columns that the statement does not set."""
    arrange: "itemgetter[Any] | None"
    """Builds the row from the values of the statement, the rest and the rowid. None if the values are the row."""
    rowid: int | None
    """The place of the rowid in the values of the statement, if the statement sets it."""


def table_layouts(connection: apsw.Connection) -> Mapping[str, TableLayout]:
    """Return the layouts of the tables of a replica, by table."""
    found: dict[str, tuple[bool, list[TableColumn]]] = {}
    for table, has_no_rowid, *column in on_one_cursor(connection)(_TABLES):
        found.setdefault(table, (not has_no_rowid, []))[1].append(TableColumn(*column))
    return {table: _shape(table, has_rowid, columns) for table, (has_rowid, columns) in found.items()}


def plain_insert(statement: str, table_layouts: Mapping[str, TableLayout]) -> PlainInsert | None:
    """Return the insert that a statement makes, if its values alone determine the row; otherwise None."""
    found = _INSERT.fullmatch(statement)
    shape = table_layouts.get(found[1]) if found else None
    if found is None or shape is None or shape.table in LOCAL_TABLES:
        return None
    given = found[2].split(", ")
    rest: list[Any] = []
    order: list[int] = []
    for place, name in enumerate(shape.columns):
        default = shape.defaults[place]
        if name in given:
            order.append(given.index(name))
        elif place == shape.rowid:
            order.append(-1)
        elif default is None or default.isdecimal():
            order.append(len(given) + len(rest))
            rest.append(None if default is None else int(default))
        else:
            return None
    arrange = None if order == list(range(len(given))) else itemgetter(*order)
    rowid = -1 if shape.rowid is None else order[shape.rowid]
    return PlainInsert(shape.table, tuple(rest), arrange, None if rowid < 0 else rowid)


def _shape(table: str, has_rowid: bool, columns: Sequence[TableColumn]) -> TableLayout:
    names = [column.name for column in columns]
    key = [at for _, at in sorted((column.place, at) for at, column in enumerate(columns) if column.place)]
    rowid = key[0] if has_rowid and len(key) == 1 and columns[key[0]].kind.lower() == "integer" else None
    is_hidden = has_rowid and rowid is None
    inserted = ["rowid", *names] if is_hidden else names
    insert = f"insert into {table} ({', '.join(inserted)}) values ({', '.join('?' * len(inserted))})"
    defaults = [column.default for column in columns]
    return TableLayout(table, names, () if has_rowid else key, rowid, is_hidden, insert, defaults)


INSERT: Final = "i"
UPDATE: Final = "u"
DELETE: Final = "d"

_BYTES: Final = "hex"

_ROW: Final = 256
"""Approximate length of a row."""

MESSAGES: Final = "messages"
DOCUMENT: Final = 9
"""The place of a message's document in its row."""


ChangedRow = tuple[str, str, int | Sequence[Any], Sequence[Any]]
"""One changed row: its table; the kind of change; its rowid, or its primary key if there is no rowid, as before the
change; and the values. An insert has all values, an update has the place and the new value of each change, a delete has
none. A plain tuple, because making a named tuple costs more than recording the row."""


class RowMismatch(Exception):
    """A row that does not fit the table: it is missing, exists already, or can't be stored."""


class RowWriter:
    """Applies changed rows on another connection. SQLite caches the prepared statements."""

    def __init__(self, connection: apsw.Connection) -> None:
        self._connection = connection
        self._execute = on_one_cursor(connection)
        self._shapes: Mapping[str, TableLayout] = {}

    def look_again(self) -> None:
        """Forget the table layouts, because the tables have changed."""
        self._shapes = {}

    def write(self, rows: Sequence[ChangedRow]) -> None:
        """Write the rows. Raise RowMismatch for a row that conflicts with existing rows, or that no table can hold."""
        self._shapes = self._shapes or table_layouts(self._connection)
        for row in rows:
            table, change, _, _ = row
            try:
                statement, values = self._statement(row)
                self._execute(statement, values)
            except (apsw.ConstraintError, apsw.MismatchError) as error:
                raise RowMismatch(f"{change} in {table}: {error}") from None
            except (LookupError, TypeError, ValueError, OverflowError, apsw.SQLError, apsw.BindingsError) as error:
                raise RowMismatch(f"{change} in {table}: the table has no such column ({error})") from None
            if self._connection.changes() != 1:
                raise RowMismatch(f"{change} in {table}: there is no such row")

    def _statement(self, row: ChangedRow) -> tuple[str, tuple[Any, ...]]:
        table, change, key, values = row
        shape = self._shapes[table]
        if change == INSERT:
            return shape.insert, (key, *values) if shape.has_hidden_rowid else tuple(values)
        where, wanted = _where(shape, key)
        if change == DELETE:
            return f"delete from {table} where {where}", wanted
        if change != UPDATE:
            raise ValueError("no change of a row")
        names = ", ".join(f"{shape.columns[int(place)]} = ?" for place, _ in values)
        return f"update {table} set {names} where {where}", (*(value for _, value in values), *wanted)


def length_of(rows: Sequence[ChangedRow]) -> int:
    """Return the approximate length of rows in a record: the length of the documents, and a constant for each row."""
    documents = sum([len(row[3][DOCUMENT]) for row in rows if row[0] == MESSAGES and row[1] == INSERT])
    return documents + len(rows) * _ROW


def encode_rows(rows: Sequence[ChangedRow]) -> bytes:
    """Return the bytes of rows for a record: JSON on one line, then the documents of new messages, one after the other.
    The documents are most of a record. They are JSON already, and escaping them would cost more than all other work."""
    documents: list[bytes] = []
    lean: list[ChangedRow | tuple[str, str, int | Sequence[Any], Sequence[Any], int]] = []
    for row in rows:
        table, change, key, values = row
        if table == MESSAGES and change == INSERT:
            document = values[DOCUMENT].encode()
            documents.append(document)
            values = (*values[:DOCUMENT], None, *values[DOCUMENT + 1 :])
            lean.append((table, change, key, values, len(document)))
        else:
            lean.append(row)
    line = _ROWS_ENCODER.encode(lean)
    return b"".join((line.encode(), b"\n", *documents))


def decode_rows(content: bytes) -> Sequence[ChangedRow]:
    """Return the rows of a record. Raise ValueError or TypeError for other bytes, which may come from an untrusted
    program."""
    line, _, documents = content.partition(b"\n")
    rows: list[ChangedRow] = []
    begins = 0
    for table, change, key, values, *length in _ROWS_DECODER.decode(line.decode()):
        if not isinstance(table, str) or table in LOCAL_TABLES:
            raise ValueError("not a table of a space")
        if length:
            ends = begins + int(*length)
            if not begins <= ends <= len(documents):
                raise ValueError("the length of its documents is wrong")
            values = (*values[:DOCUMENT], documents[begins:ends].decode(), *values[DOCUMENT + 1 :])
            begins = ends
        rows.append((table, str(change), key, values))
    return rows


def _where(shape: TableLayout, key: int | Sequence[Any]) -> tuple[str, tuple[Any, ...]]:
    if shape.key:
        values = tuple(cast(Sequence[Any], key))
        return " and ".join(f"{shape.columns[place]} = ?" for place in shape.key), values
    return "rowid = ?", (key,)


def _encode_bytes(value: object) -> object:
    if isinstance(value, bytes):
        return {_BYTES: value.hex()}
    raise TypeError(f"no value of SQLite: {value!r}")


def _decode_bytes(found: dict[str, Any]) -> object:
    if set(found) != {_BYTES}:
        raise ValueError("no value of SQLite")
    return bytes.fromhex(found[_BYTES])


_ROWS_ENCODER: Final = json.JSONEncoder(
    separators=(",", ":"), ensure_ascii=False, check_circular=False, default=_encode_bytes
)
_ROWS_DECODER: Final = json.JSONDecoder(object_hook=_decode_bytes)

VERSION: Final = 1

COMPRESSED_FROM: Final = 16 * 1024
"""Smaller records are not compressed here: the server compresses stored records, and no commit waits for that."""

FREE_BYTES: Final = 64 * 1024 * 1024
MAX_RATIO: Final = 100
"""Limit of the expansion: a record may unpack to this many times its size, and to `FREE_BYTES` in any case. A record
that compresses better is not compressed."""

_HEAD_ENCODER: Final = json.JSONEncoder(separators=(",", ":"))
_HEAD_DECODER: Final = json.JSONDecoder()
_LEVEL: Final = 1
"""The fastest level, because a commit waits for the compression."""


class LogRecordKind(StrEnum):
    ROWS = "rows"
    """Rows that have changed."""
    SCHEMA = "schema"
    """Migrations: from this record on, the tables are those of the named migrations."""


class LogRecord(NamedTuple):
    id: str
    after: str
    """The id of the previous record. It reveals a log that was restored to an earlier state, or that got a record from
    a program with another state."""
    kind: LogRecordKind = LogRecordKind.ROWS
    topics: Sequence[Topic] = ()
    migrations: Sequence[str] = ()
    rows: Sequence[ChangedRow] = ()
    """The changed rows."""


def encode(record: LogRecord) -> bytes:
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
    return b"".join((_HEAD_ENCODER.encode(head).encode(), b"\n", body))


def decode(log: str, document: bytes) -> LogRecord:
    """Return the record of an entry. Raise StoreCorrupt if it is no record, and StoreNewer if its version is newer."""
    line, _, body = document.partition(b"\n")
    try:
        head = _HEAD_DECODER.decode(line.decode())
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
        return LogRecord(str(head["id"]), str(head["after"]), LogRecordKind(head["kind"]), topics, migrations, rows)
    except (ValueError, KeyError, TypeError, AttributeError, ArithmeticError, RecursionError, zlib.error) as error:
        raise StoreCorrupt(log, f"an entry of it is no record of Covey ({error})") from error


def _most(compressed: bytes) -> int:
    """Return the limit for the unpacked size of a record. The bytes may come from an untrusted program."""
    return max(FREE_BYTES, MAX_RATIO * len(compressed))


def _expanded(body: bytes, size: int) -> bytes:
    expander = zlib.decompressobj()
    expanded = expander.decompress(body, size)
    if len(expanded) != size or not expander.eof:
        raise ValueError("the length of its content is wrong")
    return expanded
