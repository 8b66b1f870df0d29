"""Rows that a commit changes, as they stand in a record: caught as they are written, and written again elsewhere.

SQLite calls a hook for each row before it changes. For a few rows that is quicker than its own changesets, which look
at every table anew: whoever waits for the record of one commit would wait a quarter of a millisecond longer.
"""

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple, cast

import apsw

from covey.adapters.sqlite.access import on_one_cursor
from covey.adapters.sqlite.statements import statements

LOCAL_TABLES: Final = frozenset({"replica", "migrations"})
"""What each replica has for itself."""

INSERT: Final = "i"
UPDATE: Final = "u"
DELETE: Final = "d"

_TABLES: Final = statements("replica")["tables"]
_BYTES: Final = "hex"


class Row(NamedTuple):
    """One row that changes."""

    table: str
    change: str
    key: int | Sequence[Any]
    """Its rowid, or its primary key where it has none; as they are before the change."""
    values: Sequence[Any]
    """All values of a new row; the place and the value of each that changes; none of a row that goes."""


class Shape(NamedTuple):
    """What a table is like."""

    columns: Sequence[str]
    key: Sequence[int]
    """The places of the primary key, where the table has no rowid."""
    has_hidden_rowid: bool
    """Whether the rowid is none of the columns."""
    insert: str
    """The statement for a new row."""


class Misfit(Exception):
    """A row that is not there, or is there already."""


def shapes(connection: apsw.Connection) -> Mapping[str, Shape]:
    """Return what the tables of a replica are like."""
    found: dict[str, list[tuple[str, str, int, int]]] = {}
    for table, column, kind, place, has_no_rowid in on_one_cursor(connection)(_TABLES):
        found.setdefault(table, []).append((column, kind, place, has_no_rowid))
    return {table: _shape(table, columns) for table, columns in found.items()}


class Catcher:
    """Notes the rows that change on a connection."""

    def __init__(self, connection: apsw.Connection) -> None:
        self._connection = connection
        self._shapes = shapes(connection)
        self.rows: list[Row] = []

    def begin(self) -> None:
        """Note from now on; forget what was noted."""
        self.rows.clear()
        self._connection.preupdate_hook(self._note)

    def stop(self) -> None:
        """Note nothing any more."""
        self.rows.clear()
        self._connection.preupdate_hook(None)

    def _note(self, update: apsw.PreUpdate) -> None:
        table = update.table_name
        if table in LOCAL_TABLES:
            return
        change = update.opcode
        if change == apsw.SQLITE_INSERT:
            self.rows.append(Row(table, INSERT, update.rowid, cast(Sequence[Any], update.new)))  # pyright: ignore[reportUnknownMemberType] # as declared by apsw
            return
        shape = self._shapes[table]
        key: int | Sequence[Any] = update.rowid
        if shape.key:
            old = cast(Sequence[Any], update.old)  # pyright: ignore[reportUnknownMemberType] # likewise
            key = [old[place] for place in shape.key]
        if change == apsw.SQLITE_DELETE:
            self.rows.append(Row(table, DELETE, key, ()))
            return
        new = cast(Sequence[Any], update.update)  # pyright: ignore[reportUnknownMemberType] # likewise
        pairs = [(place, value) for place, value in enumerate(new) if value is not apsw.no_change]
        if pairs:
            self.rows.append(Row(table, UPDATE, key, pairs))


class Rewriter:
    """Writes rows again on another connection. SQLite keeps each statement prepared."""

    def __init__(self, connection: apsw.Connection) -> None:
        self._connection = connection
        self._execute = on_one_cursor(connection)
        self._shapes: Mapping[str, Shape] = {}

    def look_again(self) -> None:
        """The tables have changed."""
        self._shapes = {}

    def write(self, rows: Sequence[Row]) -> None:
        """Write the rows. One that does not fit what is here is Misfit, and so is what no table can hold."""
        self._shapes = self._shapes or shapes(self._connection)
        for row in rows:
            try:
                statement, values = self._statement(row)
                self._execute(statement, values)
            except (apsw.ConstraintError, apsw.MismatchError) as error:
                raise Misfit(f"{row.change} in {row.table}: {error}") from None
            except (KeyError, IndexError, TypeError, ValueError, apsw.SQLError, apsw.BindingsError) as error:
                raise Misfit(f"{row.change} in {row.table}: it has no such place ({error})") from None
            if self._connection.changes() != 1:
                raise Misfit(f"{row.change} in {row.table}: there is no such row")

    def _statement(self, row: Row) -> tuple[str, tuple[Any, ...]]:
        shape = self._shapes[row.table]
        if row.change == INSERT:
            return shape.insert, (row.key, *row.values) if shape.has_hidden_rowid else tuple(row.values)
        where, key = _where(shape, row.key)
        if row.change == DELETE:
            return f"delete from {row.table} where {where}", key
        if row.change != UPDATE:
            raise ValueError("no change of a row")
        names = ", ".join(f"{shape.columns[int(place)]} = ?" for place, _ in row.values)
        return f"update {row.table} set {names} where {where}", (*(value for _, value in row.values), *key)


def encode_rows(rows: Sequence[Row]) -> bytes:
    """Return rows as they stand in a record."""
    return json.dumps(rows, separators=(",", ":"), ensure_ascii=False, default=_encode_bytes).encode()


def decode_rows(document: bytes) -> Sequence[Row]:
    """Return the rows of a record; what is none is ValueError."""
    found = json.loads(document, object_hook=_decode_bytes)
    try:
        rows = [Row(*row) for row in found]
    except TypeError as error:
        raise ValueError(str(error)) from None
    for row in rows:
        if not isinstance(row.table, str) or row.table in LOCAL_TABLES:  # pyright: ignore[reportUnnecessaryIsInstance] # anybody may have written it
            raise ValueError("a table that is none of a space's")
    return rows


def _shape(table: str, columns: Sequence[tuple[str, str, int, int]]) -> Shape:
    names = [column for column, _, _, _ in columns]
    key = [at for _, at in sorted((place, at) for at, (_, _, place, _) in enumerate(columns) if place)]
    has_rowid = not columns[0][3]
    is_hidden = has_rowid and not (len(key) == 1 and columns[key[0]][1].lower() == "integer")
    inserted = ["rowid", *names] if is_hidden else names
    insert = f"insert into {table} ({', '.join(inserted)}) values ({', '.join('?' * len(inserted))})"
    return Shape(names, () if has_rowid else key, is_hidden, insert)


def _where(shape: Shape, key: int | Sequence[Any]) -> tuple[str, tuple[Any, ...]]:
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
