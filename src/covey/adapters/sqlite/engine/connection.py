"""Connections: setup of SQLite, the checks of the file before its first use, and migrations.

Migrations are applied by name, each once, by one process, in one transaction.
"""

import os
import sys
from collections.abc import Collection, Sequence
from typing import Any, Final, Literal

import apsw

import covey.ports as ports
from covey.adapters.sqlite.engine.access import (
    MIGRATIONS_FOLDER,
    Execute,
    migration,
    migration_names,
    on_one_cursor,
    statements,
)
from covey.adapters.sqlite.engine.files import BUSY_LIMIT_S, prepare, raise_explained
from covey.core.errors import StoreCorrupt, StoreNewer, StoreReadOnly
from covey.core.store_url import APPLICATION_ID

_SQL = statements("store")


def bring_up_to_date(connection: apsw.Connection, path: str, folder: str = MIGRATIONS_FOLDER) -> None:
    """Apply the missing migrations. Raise StoreNewer if the store has a migration that this version does not know."""
    known = migration_names(folder)
    if missing_migrations(connection, path, known) and not _is_replica(connection):
        # imported late because only a migration needs it
        from covey.adapters.sqlite.engine.writer_lock import WriterLock

        turnstile = WriterLock(path)
        try:
            turnstile.enter(BUSY_LIMIT_S)
            _migrate(connection, path, known, folder)
        finally:
            turnstile.close()


def missing_migrations(connection: apsw.Connection, path: str, known: Collection[str]) -> Sequence[str]:
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
    if not missing_migrations(connection, path, known):
        return
    execute = on_one_cursor(connection)
    execute(_SQL["log_ahead"])
    execute(_SQL["begin"])
    try:
        # Another process may have migrated before this transaction took the write lock.
        todo = missing_migrations(connection, path, known)
        execute(_SQL["mark_store"])
        execute(_SQL["start"])
        _apply(execute, todo, folder)
        execute(_SQL["commit"])
    except BaseException:
        if connection.in_transaction:
            execute(_SQL["rollback"])
        raise


Synchronous = Literal["full", "normal"]
"""full: a commit survives a power cut. normal: a power cut may lose the newest commits, but no older ones."""

Row = tuple[Any, ...]
"""Values as SQLite returns them; the decoders convert them to types."""

CHECKPOINT_PAGES: Final = 1000
"""Pages of log after which SQLite runs a checkpoint at the end of a commit. In a program with an event loop, a thread
runs checkpoints beside the commits, and more often (wal.py)."""

LOG_LIMIT_BYTES: Final = 64 * 1024 * 1024
"""Size limit of the log. A log that grew larger during a long read is truncated when SQLite restarts the log."""

CACHE_KIB: Final = 16 * 1024
STATEMENTS: Final = 256
"""Size of the statement cache: more than the statements of this package, so that each is prepared once."""


def _leave_connections_to_the_parent() -> None:
    from covey.disk.forked_databases import keep_connections  # imported late because only a forked child needs it

    keep_connections()


os.register_at_fork(after_in_child=_leave_connections_to_the_parent)


def connect(path: str, synchronous: Synchronous) -> apsw.Connection:
    """Return a connection to the store at `path`. Make or migrate the store if necessary. Raise an error that says why
    the store cannot be used."""
    try:
        prepare(path)
        connection = apsw.Connection(path, flags=apsw.SQLITE_OPEN_READWRITE, statementcachesize=STATEMENTS)
    except (apsw.Error, OSError) as error:
        raise_explained(path, error)
    try:
        if connection.readonly("main"):
            raise StoreReadOnly(path, "the file is read-only")
        connection.set_busy_timeout(int(BUSY_LIMIT_S * 1000))
        bring_up_to_date(connection, path)
        _set_up(connection, synchronous)
    except (apsw.Error, OSError, UnicodeDecodeError) as error:
        connection.close()
        raise_explained(path, error)
    except BaseException:
        connection.close()
        raise
    return connection


def capabilities(synchronous: Synchronous) -> "ports.Capabilities":
    """Return the capabilities of a store with this setting."""
    survives = ports.Survives.MACHINE if synchronous == "full" else ports.Survives.PROCESS
    return ports.Capabilities(survives, shared=True, searchable=True)


def absolute(path: str | os.PathLike[str]) -> str:
    """Return the real path, which names the store the same way in all processes."""
    return os.path.realpath(path)


def _set_up(connection: apsw.Connection, synchronous: Synchronous) -> None:
    # Without this setting, SQLite plans a statement again each time a value is bound, to check the partial indexes.
    # Planning takes longer than most statements do.
    connection.config(apsw.SQLITE_DBCONFIG_ENABLE_QPSG, 1)
    execute = on_one_cursor(connection)
    execute(
        f"pragma synchronous = {synchronous}; pragma wal_autocheckpoint = {CHECKPOINT_PAGES};"
        f"pragma journal_size_limit = {LOG_LIMIT_BYTES}; pragma cache_size = -{CACHE_KIB}"
    )
    if sys.platform == "darwin":
        # On macOS fsync stops at the drive's own cache; on other systems it reaches the disk.
        execute("pragma fullfsync = 1; pragma checkpoint_fullfsync = 1")


_NUMBER = statements("store")["schema_number"]


class Schema:
    """The schema as one connection knows it."""

    __slots__ = ("_connection", "_execute", "_number", "_path")

    def __init__(self, connection: apsw.Connection, path: str) -> None:
        self._connection = connection
        self._execute = on_one_cursor(connection)
        self._path = path
        self._number: int | None = None

    def check(self) -> None:
        """Raise StoreNewer if the store has a migration that this version does not know. Call this within a
        transaction, whenever another connection has written since the last one."""
        number = self._execute(_NUMBER).get
        if number != self._number:
            missing_migrations(self._connection, self._path, migration_names())
            self._number = number
