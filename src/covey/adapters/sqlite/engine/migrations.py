"""Migrations: applied by name, each once, by one process, in one transaction."""

from collections.abc import Collection, Sequence

import apsw

from covey.adapters.sqlite.engine.access import Execute, on_one_cursor
from covey.adapters.sqlite.engine.statements import MIGRATIONS_FOLDER, migration, migration_names, statements
from covey.adapters.sqlite.engine.trouble import BUSY_LIMIT_S
from covey.core.errors import StoreCorrupt, StoreNewer
from covey.core.store_url import APPLICATION_ID

_SQL = statements("store")


def bring_up_to_date(connection: apsw.Connection, path: str, folder: str = MIGRATIONS_FOLDER) -> None:
    """Apply the missing migrations. Raise StoreNewer if the store has a migration that this version does not know."""
    known = migration_names(folder)
    if missing(connection, path, known) and not _is_replica(connection):
        from covey.adapters.sqlite.engine.writer_lock import WriterLock  # here because only a migration needs it

        turnstile = WriterLock(path)
        try:
            turnstile.enter(BUSY_LIMIT_S)
            _migrate(connection, path, known, folder)
        finally:
            turnstile.close()


def missing(connection: apsw.Connection, path: str, known: Collection[str]) -> Sequence[str]:
    """Return the migrations that the store does not have yet."""
    execute = on_one_cursor(connection)
    # The order matters: a process that makes the store meanwhile marks it and makes its tables in one transaction.
    is_empty = execute(_SQL["schema"]).get == 0
    mark = execute(_SQL["read_mark"]).get
    if mark != APPLICATION_ID:
        if is_empty and mark == 0:
            return list(known)
        raise StoreCorrupt(path, "it is a database of another program")
    if is_empty:
        return list(known)
    applied = [name for (name,) in execute(_SQL["applied"])]
    if unknown := sorted(set(applied) - set(known)):
        raise StoreNewer(path, unknown)
    return [name for name in known if name not in applied]


def migrate_to(connection: apsw.Connection, log: str, names: Sequence[str], folder: str = MIGRATIONS_FOLDER) -> None:
    """Apply the migrations that the replica's log names, within the current transaction."""
    if unknown := sorted(set(names) - set(migration_names(folder))):
        raise StoreNewer(log, unknown)
    execute = on_one_cursor(connection)
    applied = {name for (name,) in execute(_SQL["applied"])}
    _apply(execute, [name for name in names if name not in applied], folder)


def _apply(execute: Execute, names: Sequence[str], folder: str) -> None:
    for name in names:
        execute(migration(name, folder))
        execute(_SQL["apply"], (name,))


def _is_replica(connection: apsw.Connection) -> bool:
    """Tell whether the store is a replica. Its log decides when to migrate, so that all replicas do so at the same
    entry."""
    return on_one_cursor(connection)(statements("replica")["is_replica"]).get == 1


def _migrate(connection: apsw.Connection, path: str, known: Sequence[str], folder: str) -> None:
    if not missing(connection, path, known):
        return
    execute = on_one_cursor(connection)
    execute(_SQL["log_ahead"])
    execute(_SQL["begin"])
    try:
        # Another process may have migrated before this transaction took the write lock.
        todo = missing(connection, path, known)
        execute(_SQL["mark_store"])
        execute(_SQL["start"])
        _apply(execute, todo, folder)
        execute(_SQL["commit"])
    except BaseException:
        if connection.in_transaction:
            execute(_SQL["rollback"])
        raise
