"""The tables of a replica: what rows of each look like, and how a new one is written."""

import re
from collections.abc import Mapping, Sequence
from operator import itemgetter
from typing import Any, Final, NamedTuple

import apsw

from covey.adapters.sqlite.access import on_one_cursor
from covey.adapters.sqlite.statements import statements

LOCAL_TABLES: Final = frozenset({"replica", "migrations"})
"""What each replica has for itself."""

_TABLES: Final = statements("replica")["tables"]
_INSERT: Final = re.compile(r"insert into (\w+) \(([\w, ]+)\) values \(\?(?:, \?)*\)")


class Column(NamedTuple):
    name: str
    kind: str
    place: int
    """In the primary key, counted from 1; 0 where it is not part of it."""
    default: str | None
    """What stands there where nothing is given, as SQL."""


class Shape(NamedTuple):
    """What a table is like."""

    table: str
    columns: Sequence[str]
    key: Sequence[int]
    """The places of the primary key, where the table has no rowid."""
    rowid: int | None
    """The place of the column that is the rowid, if one is."""
    has_hidden_rowid: bool
    """Whether the rowid is none of the columns."""
    insert: str
    """The statement for a new row."""
    defaults: Sequence[str | None]


class PlainInsert(NamedTuple):
    """A statement that writes one new row, and nothing else: what it is given is the row."""

    table: str
    rest: tuple[Any, ...]
    """What stands where nothing is given."""
    arrange: "itemgetter[Any] | None"
    """Makes the row of what the statement is given, the rest, and the rowid; None where it is given the row itself."""
    rowid: int | None
    """The place of the rowid in what is given, if it is."""


def shapes(connection: apsw.Connection) -> Mapping[str, Shape]:
    """Return what the tables of a replica are like."""
    found: dict[str, tuple[bool, list[Column]]] = {}
    for table, has_no_rowid, *column in on_one_cursor(connection)(_TABLES):
        found.setdefault(table, (not has_no_rowid, []))[1].append(Column(*column))
    return {table: _shape(table, has_rowid, columns) for table, (has_rowid, columns) in found.items()}


def plain_insert(statement: str, shapes: Mapping[str, Shape]) -> PlainInsert | None:
    """Return what a statement writes, if that can be told by what it is given."""
    found = _INSERT.fullmatch(statement)
    shape = shapes.get(found[1]) if found else None
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


def _shape(table: str, has_rowid: bool, columns: Sequence[Column]) -> Shape:
    names = [column.name for column in columns]
    key = [at for _, at in sorted((column.place, at) for at, column in enumerate(columns) if column.place)]
    rowid = key[0] if has_rowid and len(key) == 1 and columns[key[0]].kind.lower() == "integer" else None
    is_hidden = has_rowid and rowid is None
    inserted = ["rowid", *names] if is_hidden else names
    insert = f"insert into {table} ({', '.join(inserted)}) values ({', '.join('?' * len(inserted))})"
    defaults = [column.default for column in columns]
    return Shape(table, names, () if has_rowid else key, rowid, is_hidden, insert, defaults)
