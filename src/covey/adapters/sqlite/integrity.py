"""Integrity: whether the file is whole, and what is counted is there."""

import os
from collections.abc import Sequence

import apsw

from covey.adapters.sqlite.access import on_one_cursor
from covey.adapters.sqlite.connection import absolute, connect
from covey.adapters.sqlite.statements import statements

_SQL = statements("store")


def integrity_check(path: str | os.PathLike[str]) -> Sequence[str]:
    """Return a sentence for each thing that is wrong with the store; none where it is whole. Reads all of it."""
    connection = connect(absolute(path), "normal")
    try:
        return [*damage(connection), *(f"the queued deliveries of {i} are miscounted" for i in miscounted(connection))]
    finally:
        connection.close()


def damage(connection: apsw.Connection, *, quick: bool = False) -> Sequence[str]:
    """Return what SQLite finds wrong with the file. Where it is quick, indexes are not compared with their tables."""
    rows = on_one_cursor(connection)(_SQL["quick_check" if quick else "check"])
    return [str(line) for (line,) in rows if line != "ok"]


def miscounted(connection: apsw.Connection) -> Sequence[str]:
    """Return the inboxes whose count of queued deliveries is wrong."""
    return [str(inbox) for (inbox,) in on_one_cursor(connection)(_SQL["miscounted"])]
