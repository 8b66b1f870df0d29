"""Integrity: checks of the file, of each record and of the counts."""

import os
from collections.abc import Iterator, Sequence
from typing import Final

import apsw

from covey.adapters.sqlite.engine.access import Access, Execute, on_one_cursor, refuse
from covey.adapters.sqlite.engine.connection import absolute, connect
from covey.adapters.sqlite.engine.connection_cache import ConnectionCache
from covey.adapters.sqlite.engine.statements import statements
from covey.adapters.sqlite.engine.trouble import raise_explained
from covey.adapters.sqlite.records.delivery_rows import SEQ, decode_delivery, delivery_rows
from covey.adapters.sqlite.records.values import WRONG, of_document
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
        if of_document(document) != checksum:
            yield f"message {_text(message_id)}, at {seq}: {WRONG}"
    for name, reason in (
        ("not_json", "its document is not JSON"),
        ("misfiled", "it is filed as something else than its document says"),
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
