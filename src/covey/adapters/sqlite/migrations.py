"""Migrations: by name, each once, by one process, in one transaction."""

from collections.abc import Collection, Sequence
from typing import Final

import apsw

from covey.adapters.sqlite.access import on_one_cursor
from covey.adapters.sqlite.statements import MIGRATIONS_FOLDER, migration, migration_names, statements
from covey.adapters.sqlite.trouble import BUSY_LIMIT_S
from covey.core.errors import StoreCorrupt, StoreNewer

APPLICATION_ID: Final = 0x436F7679
"""What marks the file as a Covey store: the letters Covy."""

_SQL = statements("store")


def bring_up_to_date(connection: apsw.Connection, path: str, folder: str = MIGRATIONS_FOLDER) -> None:
    """Apply what the store has not gone through yet. One that went through something unknown here is StoreNewer."""
    known = migration_names(folder)
    if missing(connection, path, known):
        from covey.adapters.sqlite.turnstile import Turnstile  # here because it is seldom so

        turnstile = Turnstile(path)
        try:
            turnstile.enter(BUSY_LIMIT_S)
            _migrate(connection, path, known, folder)
        finally:
            turnstile.close()


def missing(connection: apsw.Connection, path: str, known: Collection[str]) -> Sequence[str]:
    """Return the migrations that the store has not gone through yet."""
    execute = on_one_cursor(connection)
    # In this order: whoever made the store meanwhile marked it and made its tables in one transaction.
    is_empty = execute(_SQL["schema"]).get == 0
    mark = execute(_SQL["read_mark"]).get
    if mark != APPLICATION_ID:
        if is_empty and mark == 0:
            return list(known)
        raise StoreCorrupt(path, "it is a database of another program")
    applied = [name for (name,) in execute(_SQL["applied"])]
    if unknown := sorted(set(applied) - set(known)):
        raise StoreNewer(path, unknown)
    return [name for name in known if name not in applied]


def _migrate(connection: apsw.Connection, path: str, known: Sequence[str], folder: str) -> None:
    if not missing(connection, path, known):
        return
    execute = on_one_cursor(connection)
    execute(_SQL["log_ahead"])
    execute(_SQL["begin"])
    try:
        # Only now nobody else can write: look once more.
        todo = missing(connection, path, known)
        execute(_SQL["mark_store"])
        execute(_SQL["start"])
        for name in todo:
            execute(migration(name, folder))
            execute(_SQL["apply"], (name,))
        execute(_SQL["commit"])
    except BaseException:
        if connection.in_transaction:
            execute(_SQL["rollback"])
        raise
