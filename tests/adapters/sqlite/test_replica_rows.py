"""Rows in records: what is caught is what was written, and what nobody could have written is refused."""

import json
from pathlib import Path
from typing import Any

import apsw
import pytest

from covey.adapters.sqlite.engine.access import on_one_cursor
from covey.adapters.sqlite.replica.record import Record, decode, encode
from covey.adapters.sqlite.replica.recording import Catcher
from covey.adapters.sqlite.replica.rows import Misfit, Rewriter, Row, decode_rows, encode_rows, plain_insert, shapes
from covey.core.errors import StoreCorrupt

TABLES = """
create table plain (id integer primary key, word text not null, count integer not null default 7, note text) strict;
create table hidden (word text not null unique) strict;
create table keyed (name text primary key, value blob) strict, without rowid;
create table telling (id integer primary key, word text default 'a word') strict;
"""
STATEMENTS = [
    ("insert into plain (word, note) values (?, ?)", ("one", None)),
    ("insert into plain (note, id, word) values (?, ?, ?)", ("a\nnote", "12", "two")),
    ("insert into hidden (word) values (?)", ("three",)),
    ("insert into keyed (name, value) values (?, ?)", ("four", b"\x00\xff")),
    ("insert into telling (id) values (?)", (5,)),
    (
        "insert into keyed (name, value) values (?, ?) on conflict (name) do update set value = excluded.value",
        ("four", None),
    ),
    ("insert into plain (word) select word from hidden", ()),
    ("update plain set count = count + 1 where id < ?", (5,)),
    ("delete from hidden where word = ?", ("three",)),
]


def database() -> apsw.Connection:
    connection = apsw.Connection(":memory:")
    on_one_cursor(connection)(TABLES)
    return connection


def everything(connection: apsw.Connection) -> list[object]:
    execute = on_one_cursor(connection)
    return [list(execute(f"select * from {table} order by 1")) for table in ("plain", "hidden", "keyed", "telling")]


def test_rows_written_in_any_way_are_the_same_elsewhere() -> None:
    here, there = database(), database()
    catcher = Catcher(here)
    write = catcher.through(on_one_cursor(here))
    catcher.begin()
    for statement, values in STATEMENTS:
        write(statement, values)
    rows = decode_rows(encode_rows(catcher.rows))
    catcher.stop()
    Rewriter(there).write(rows)
    assert everything(there) == everything(here)


def test_what_is_refused_is_not_noted() -> None:
    connection = database()
    catcher = Catcher(connection)
    write = catcher.through(on_one_cursor(connection))
    catcher.begin()
    write("insert into hidden (word) values (?)", ("one",))
    with pytest.raises(apsw.ConstraintError):
        write("insert into hidden (word) values (?)", ("one",))
    assert len(catcher.rows) == 1
    write("update hidden set word = 'two'")  # the hook is back
    assert len(catcher.rows) == 2


@pytest.mark.parametrize(
    "statement",
    [
        "insert into plain (word) values (?) on conflict do nothing",
        "insert into plain (word) values (?) returning id",
        "insert into plain (word, count) values (?, 1)",
        "insert or replace into plain (word) values (?)",
        "insert into telling (id) values (?)",
        "insert into nothing (id) values (?)",
        "update plain set word = ?",
    ],
)
def test_a_statement_is_taken_at_its_word_only_where_it_says_all(statement: str) -> None:
    assert plain_insert(statement, shapes(database())) is None


def message(document: str) -> Row:
    return ("messages", "i", 1, (1, "id", "id", None, None, "notify", "ann", "now", 0, document, 0))


def test_documents_come_back_as_they_were() -> None:
    documents = ["", "a\nb", '{"text": "\\"ü\\u2028€"}', "x" * 100_000]
    rows = [message(document) for document in documents]
    assert decode_rows(encode_rows(rows)) == rows
    assert decode("log", encode(Record("id", "before", rows=rows))).rows == rows


BAD_BODIES = [
    b"1",
    b"{}x",
    b"[1]",
    b'[["messages","i",1]]',
    b'[["replica","i",1,[]]]',
    b'[[1,"i",1,[]]]',
    b'[["messages","i",1,[],5]]\nabc',
    b'[["messages","i",1,[],-1]]\nabc',
    b'[["messages","i",1,[],"x"]]\nabc',
    b'[["messages","i",1,null,1]]\nabc',
    b'[["messages","i",1,[],1,1]]\nabc',
    b'[["messages","i",1,[],1]]\n\xff',
    b'[["messages","i",1,[{"hex":"zz"}]]]',
    b"[" * 100_000,
]


@pytest.mark.parametrize("body", BAD_BODIES, ids=range(len(BAD_BODIES)))
def test_what_is_no_row_is_no_record(body: bytes) -> None:
    head = json.dumps({"v": 1, "kind": "rows", "id": "1", "after": ""}).encode()
    with pytest.raises(StoreCorrupt):
        decode("log", head + b"\n" + body)


BAD_ROWS: list[Any] = [
    ("plain", "i", 1, [1 << 70, "word", 1, None]),
    ("plain", "i", 1, None),
    ("plain", "i", 1, [1, [], 1, None]),
    ("plain", "u", 1, [1]),
    ("plain", "u", 1, [[99, 1]]),
    ("plain", "u", [1], [[1, "word"]]),
    ("plain", "x", 1, []),
    ("Plain", "i", 1, [1, "word", 1, None]),
    ("keyed", "d", None, []),
    ("hidden", "d", 1 << 70, []),
]


@pytest.mark.parametrize("row", BAD_ROWS)
def test_a_row_that_fits_nowhere_is_a_misfit(row: Row) -> None:
    with pytest.raises(Misfit):
        Rewriter(database()).write([row])


def test_a_record_is_a_small_file_like_any(tmp_path: Path) -> None:
    """A guard for the form: what one version writes, the next has to read."""
    (tmp_path / "record").write_bytes(encode(Record("id", "before", rows=[message("{}")])))
    head, rows, document = (tmp_path / "record").read_bytes().split(b"\n")
    assert json.loads(head) == {"v": 1, "kind": "rows", "id": "id", "after": "before"}
    assert json.loads(rows) == [
        ["messages", "i", 1, [1, "id", "id", None, None, "notify", "ann", "now", 0, None, 0], 2]
    ]
    assert document == b"{}"
