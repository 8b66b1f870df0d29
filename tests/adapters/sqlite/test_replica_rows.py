"""Rows in records: written rows are captured exactly, and impossible rows are refused."""

import json
from pathlib import Path
from typing import Any

import apsw
import pytest

from covey.adapters.sqlite.engine.access import on_one_cursor
from covey.adapters.sqlite.replica.record import (
    ChangedRow,
    LogRecord,
    RowMismatch,
    RowWriter,
    decode,
    decode_rows,
    encode,
    encode_rows,
    plain_insert,
    table_layouts,
)
from covey.adapters.sqlite.replica.recording import ChangeCollector
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


def test_rows_written_by_any_statement_are_the_same_in_a_replica() -> None:
    here, there = database(), database()
    catcher = ChangeCollector(here)
    write = catcher.through(on_one_cursor(here))
    catcher.begin()
    for statement, values in STATEMENTS:
        write(statement, values)
    rows = decode_rows(encode_rows(catcher.rows))
    catcher.stop()
    RowWriter(there).write(rows)
    assert everything(there) == everything(here)


def test_a_refused_statement_is_not_captured() -> None:
    connection = database()
    catcher = ChangeCollector(connection)
    write = catcher.through(on_one_cursor(connection))
    catcher.begin()
    write("insert into hidden (word) values (?)", ("one",))
    with pytest.raises(apsw.ConstraintError):
        write("insert into hidden (word) values (?)", ("one",))
    assert len(catcher.rows) == 1
    write("update hidden set word = 'two'")  # the hook is active again
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
def test_an_insert_is_captured_from_its_text_only_if_it_names_all_values(statement: str) -> None:
    assert plain_insert(statement, table_layouts(database())) is None


def message(document: str) -> ChangedRow:
    return ("messages", "i", 1, (1, "id", "id", None, None, "notify", "ann", "now", 0, document, 0))


def test_documents_are_decoded_unchanged() -> None:
    documents = ["", "a\nb", '{"text": "\\"ü\\u2028€"}', "x" * 100_000]
    rows = [message(document) for document in documents]
    assert decode_rows(encode_rows(rows)) == rows
    assert decode("log", encode(LogRecord("id", "before", rows=rows))).rows == rows


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
def test_a_record_with_an_invalid_row_is_refused(body: bytes) -> None:
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
def test_a_row_that_fits_no_table_is_a_misfit(row: ChangedRow) -> None:
    with pytest.raises(RowMismatch):
        RowWriter(database()).write([row])


def test_the_encoding_of_a_record_does_not_change(tmp_path: Path) -> None:
    """The next version must be able to read the records of this one."""
    (tmp_path / "record").write_bytes(encode(LogRecord("id", "before", rows=[message("{}")])))
    head, rows, document = (tmp_path / "record").read_bytes().split(b"\n")
    assert json.loads(head) == {"v": 1, "kind": "rows", "id": "id", "after": "before"}
    assert json.loads(rows) == [
        ["messages", "i", 1, [1, "id", "id", None, None, "notify", "ann", "now", 0, None, 0], 2]
    ]
    assert document == b"{}"
