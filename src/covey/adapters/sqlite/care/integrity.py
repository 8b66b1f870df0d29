"""Integrity: read-only opening of a store, and checks of the file, of each record and of the counts."""

import os
from collections.abc import Iterator, Sequence
from typing import Final
from urllib.parse import quote

import apsw

from covey.adapters.sqlite.engine.access import Access, ConnectionCache, Execute, on_one_cursor, refuse, statements
from covey.adapters.sqlite.engine.connection import absolute, connect
from covey.adapters.sqlite.engine.files import BUSY_LIMIT_S, raise_explained
from covey.adapters.sqlite.records.rows import SEQ, WRONG, decode_delivery, delivery_rows, document_checksum
from covey.core.errors import RecordDamaged

PAGE: Final = 1000
"""Number of deliveries in one query."""

_SQL = statements("store")
_MESSAGES = statements("messages")
_PAGE = statements("views")["deliveries"]


def integrity_check(path: str | os.PathLike[str]) -> Sequence[str]:
    """Return a sentence for each fault of the store, or an empty list. Reads the whole store."""
    connection = connect(absolute(path), "normal")
    try:
        counts = (f"the queued deliveries of {i} are miscounted" for i in miscounted(connection))
        return [*damage(connection), *damaged_rows(connection), *counts]
    except (apsw.Error, UnicodeDecodeError) as error:
        raise_explained(os.fspath(path), error)
    finally:
        connection.close()


def damage(connection: apsw.Connection, *, quick: bool = False) -> Sequence[str]:
    """Return the faults that SQLite finds in the file. A quick check does not compare indexes with their tables."""
    rows = on_one_cursor(connection)(_SQL["quick_check" if quick else "check"])
    return [str(line) for (line,) in rows if line != "ok"]


def damaged_rows(connection: apsw.Connection) -> Sequence[str]:
    """Return a sentence for each message and delivery that is not as it was written. Reads all of them."""
    execute = on_one_cursor(connection)
    return [*_damaged_messages(execute), *_damaged_deliveries(execute)]


def _damaged_messages(execute: Execute) -> Iterator[str]:
    for seq, message_id, document, checksum in execute(_MESSAGES["to_check"]):
        if document_checksum(document) != checksum:
            yield f"message {_text(message_id)}, at {seq}: {WRONG}"
    for name, reason in (
        ("not_json", "its document is not JSON"),
        ("misfiled", "its columns contradict its document"),
        ("unsummed", "its checksum is missing"),
    ):
        for seq, message_id in execute(_MESSAGES[name]):
            yield f"message {_text(message_id)}, at {seq}: {reason}"


def _damaged_deliveries(execute: Execute) -> Iterator[str]:
    access = Access(execute, refuse, ConnectionCache())
    after = 0
    while rows := delivery_rows(access, _PAGE, (after, PAGE)):
        after = rows[-1][SEQ]
        for row in rows:
            try:
                decode_delivery(row)
            except RecordDamaged as error:
                yield f"delivery at {row[SEQ]}: {error.details['reason']}"


def _text(value: object) -> str:
    """Return the id of a row as text. A damaged row may have any value there."""
    return value.decode(errors="backslashreplace") if isinstance(value, bytes) else str(value)


def miscounted(connection: apsw.Connection) -> Sequence[str]:
    """Return the inboxes whose count of queued deliveries is wrong."""
    return [str(inbox) for (inbox,) in on_one_cursor(connection)(_SQL["miscounted"])]


def open_read_only(path: str) -> apsw.Connection:
    """Return a read-only connection to the file at `path`."""
    try:
        return _opened(path, apsw.SQLITE_OPEN_READONLY)
    except (apsw.CantOpenError, apsw.ReadOnlyError):
        # To read the log, SQLite makes an index beside the file, which fails in a read-only folder. No process can
        # write a log in that folder either. A log that was copied there with the file is ignored.
        return _opened(f"file:{quote(path)}?immutable=1", apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI)


def check_database(path: str) -> None:
    """Raise an error if the file is no database or cannot be opened."""
    try:
        open_read_only(path).close()
    except apsw.Error as error:
        raise_explained(path, error)


def _opened(name: str, flags: int) -> apsw.Connection:
    connection = apsw.Connection(name, flags=flags)
    try:
        connection.set_busy_timeout(int(BUSY_LIMIT_S * 1000))
        list(on_one_cursor(connection)("pragma schema_version"))  # SQLite opens the file only at the first read
    except BaseException:
        connection.close()
        raise
    return connection
