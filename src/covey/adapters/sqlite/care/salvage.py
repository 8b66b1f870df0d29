"""Salvage: the readable rows of a damaged store, copied one by one into a new store.

SQLite aborts a scan at the first damaged page. But a row can also be read by its number, and a damaged page costs only
the rows on that page. So salvage tries every number up to the highest.
"""

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final

import apsw

from covey.adapters.sqlite.care.integrity import open_read_only
from covey.adapters.sqlite.engine.access import Execute, on_one_cursor, statements
from covey.adapters.sqlite.engine.connection import Row, absolute, connect
from covey.adapters.sqlite.engine.files import raise_explained, remove
from covey.adapters.sqlite.records.rows import DELIVERY_COLUMNS, decode_document, row_checksum
from covey.core.errors import Invalid, MessageDamaged, StoreCorrupt
from covey.ports.care import ProgressCallback, Salvaged

NUMBERED: Final = (
    "messages",
    "deliveries",
    "tickets",
    "tasks",
    "posts",
    "pairs",
    "runs",
    "offers",
    "sessions",
    "tokens",
    "journal",
)
"""Tables whose rows have a row number."""

KEYED: Final = ("agents", "settings", "pruned", "bindings", "trees", "flows", "waits")
"""Tables without row numbers, ordered by key. They can only be read from both ends."""

OF_MESSAGES: Final = ("deliveries", "tickets", "tasks", "posts", "pairs")
"""Tables whose rows have no meaning without their message."""

BATCH: Final = 1000

_SQL = statements("salvage")
_STORE = statements("store")
_UNREADABLE: Final = (apsw.Error, UnicodeDecodeError)
"""Errors of reading a damaged row."""


def salvage(path: str, target: str, tell: ProgressCallback) -> Mapping[str, Salvaged]:
    """Make a store at `target` and copy the readable rows into it. Return the counts of each table."""
    path, target = absolute(path), absolute(target)
    if os.path.lexists(target):
        raise Invalid("file", target, "there is one already: name a new one")
    try:
        source = open_read_only(path)
    except (apsw.Error, OSError) as error:
        raise_explained(path, error)
    try:
        made = connect(target, "full")
        try:
            saved = _copy(on_one_cursor(source), on_one_cursor(made), tell)
        finally:
            made.close()
    finally:
        source.close()
    if not any(table.saved for table in saved.values()):
        for name in (target, f"{target}-turn"):
            remove(name)
        raise StoreCorrupt(path, "no record of it can be read")
    return saved


def _copy(source: Execute, target: Execute, tell: ProgressCallback) -> Mapping[str, Salvaged]:
    found: dict[str, Salvaged] = {}
    target(_STORE["begin"])
    for table in (*KEYED, *NUMBERED):
        columns = _columns(source, target, table)
        if columns:
            rows = _numbered(source, table, columns, tell) if table in NUMBERED else _keyed(source, table, columns)
            found[table] = _write(target, table, columns, rows)
    for table in OF_MESSAGES:
        if table in found:
            lost = len(list(target(_SQL[table])))
            found[table] = Salvaged(found[table].saved - lost, found[table].unreadable + lost)
    target(_STORE["uncount"])
    target(_STORE["recount"])
    target(_STORE["commit"])
    return found


def _columns(source: Execute, target: Execute, table: str) -> Sequence[str]:
    """Return the columns that the table has in both stores, or none if the table is missing or unreadable."""
    try:
        there = {row[1] for row in source(f"pragma table_info({table})")}
    except _UNREADABLE:
        return ()
    return [row[1] for row in target(f"pragma table_info({table})") if row[1] in there]


def _numbered(source: Execute, table: str, columns: Sequence[str], tell: ProgressCallback) -> Iterator[Row | None]:
    """Yield the rows of a table by number. None stands for a row that could not be read."""
    statement = f"select rowid, {', '.join(columns)} from {table} where rowid = ?"
    is_whole = _WHOLE.get(table, _is_whole)
    top = _highest(source, table)
    for number in range(1, top + 1):
        if number % BATCH == 0:
            tell(number, top)
        try:
            for row in source(statement, (number,)):
                yield row if is_whole(dict(zip(columns, row[1:], strict=True))) else None
        except _UNREADABLE:
            yield None


def _is_whole(_values: Mapping[str, Any]) -> bool:
    return True


def _is_whole_message(values: Mapping[str, Any]) -> bool:
    """Tell whether a message is as it was filed, according to its checksum and its document."""
    try:
        decode_document(values["id"], values["document"].encode(), values.get("checksum"))
    except MessageDamaged:
        return False
    return True


def _is_whole_delivery(values: Mapping[str, Any]) -> bool:
    checksum = values.get("checksum")
    return checksum is None or row_checksum([values[name] for name in DELIVERY_COLUMNS]) == checksum


_WHOLE: Final = {"messages": _is_whole_message, "deliveries": _is_whole_delivery}
"""Checks by table: tell whether a readable row is as it was written."""


def _highest(source: Execute, table: str) -> int:
    """Return the highest row number that any query finds: from the table's end, from its start, or from an index."""
    ways: list[Callable[[], Iterator[Row]]] = [
        lambda: source(f"select rowid from {table} order by rowid desc limit 1"),
        lambda: source(f"select rowid from {table} not indexed order by rowid"),
        *(
            lambda index=index: source(f"select rowid from {table} indexed by {index}")  # partial indexes raise
            for index in _indexes(source, table)
        ),
    ]
    highest = 0
    for way in ways:
        try:
            for (number,) in way():
                highest = max(highest, number)
        except _UNREADABLE:
            continue
    return highest


def _indexes(source: Execute, table: str) -> Sequence[str]:
    try:
        return [row[1] for row in source(f"pragma index_list({table})")]
    except _UNREADABLE:
        return ()


def _keyed(source: Execute, table: str, columns: Sequence[str]) -> Iterator[Row | None]:
    """Yield the rows of a table from its start. If a damaged page ends the scan, scan from the end too."""
    statement = f"select null, {', '.join(columns)} from {table} order by {columns[0]}"
    try:
        yield from source(statement)
    except _UNREADABLE:
        yield None
        try:
            yield from source(f"{statement} desc")
        except _UNREADABLE:
            return


def _write(target: Execute, table: str, columns: Sequence[str], rows: Iterator[Row | None]) -> Salvaged:
    """Insert the rows. A row that was read twice counts once. A row that the new store refuses counts as unreadable."""
    is_numbered = table in NUMBERED
    names = ", ".join((("rowid",) if is_numbered else ()) + tuple(columns))
    places = ", ".join("?" * (len(columns) + is_numbered))
    statement = f"insert or ignore into {table} ({names}) values ({places}) returning 1"
    saved = unreadable = 0
    for row in rows:
        try:
            saved += 0 if row is None else len(list(target(statement, row if is_numbered else row[1:])))
        except _UNREADABLE:
            unreadable += 1
        else:
            unreadable += row is None
    return Salvaged(saved, unreadable)
