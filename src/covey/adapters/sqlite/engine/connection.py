"""Connections: how SQLite is set up, and the file checked, before anything is done with it."""

import os
import sys
from typing import Any, Final, Literal

import apsw

import covey.ports as ports
from covey.adapters.sqlite.engine.access import on_one_cursor
from covey.adapters.sqlite.engine.files import prepare
from covey.adapters.sqlite.engine.migrations import bring_up_to_date, missing
from covey.adapters.sqlite.engine.statements import migration_names, statements
from covey.adapters.sqlite.engine.trouble import BUSY_LIMIT_S, raise_explained
from covey.core.errors import StoreReadOnly

Synchronous = Literal["full", "normal"]
"""full: what was committed survives a power cut. normal: a power cut may lose the newest commits, and only those."""

Row = tuple[Any, ...]
"""Values as SQLite has them; the decoders give them their types."""

CHECKPOINT_PAGES: Final = 1000
"""After this many pages SQLite writes the log back into the database, at the end of a commit. Where a program has an
event loop that is done beside the commits, and more often (checkpoints.py)."""

LOG_LIMIT_BYTES: Final = 64 * 1024 * 1024
"""A log that grew larger than this while a long read held it is cut back when it begins anew."""

CACHE_KIB: Final = 16 * 1024
STATEMENTS: Final = 256
"""More than this package has, so that each is prepared once."""


def _leave_connections_to_the_parent() -> None:
    from covey.disk.forked_databases import keep_connections  # here because only a forked child needs it

    keep_connections()


os.register_at_fork(after_in_child=_leave_connections_to_the_parent)


def connect(path: str, synchronous: Synchronous) -> apsw.Connection:
    """Return a connection to the store at `path`, made or migrated where needed; else say what is wrong with it."""
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
    """Return what a store with this setting can do."""
    survives = ports.Survives.MACHINE if synchronous == "full" else ports.Survives.PROCESS
    return ports.Capabilities(survives, shared=True, searchable=True)


def absolute(path: str | os.PathLike[str]) -> str:
    """Return the path that all processes know the store by."""
    return os.path.realpath(path)


def _set_up(connection: apsw.Connection, synchronous: Synchronous) -> None:
    # Without it SQLite plans anew each time a value is bound, to see whether it fits one of the partial indexes: that
    # takes longer than most statements do.
    connection.config(apsw.SQLITE_DBCONFIG_ENABLE_QPSG, 1)
    execute = on_one_cursor(connection)
    execute(
        f"pragma synchronous = {synchronous}; pragma wal_autocheckpoint = {CHECKPOINT_PAGES};"
        f"pragma journal_size_limit = {LOG_LIMIT_BYTES}; pragma cache_size = -{CACHE_KIB}"
    )
    if sys.platform == "darwin":
        # Elsewhere fsync reaches the disk; there it stops at the drive's own cache.
        execute("pragma fullfsync = 1; pragma checkpoint_fullfsync = 1")


_NUMBER = statements("store")["schema_number"]


class Schema:
    """What one connection knows of it."""

    __slots__ = ("_connection", "_execute", "_number", "_path")

    def __init__(self, connection: apsw.Connection, path: str) -> None:
        self._connection = connection
        self._execute = on_one_cursor(connection)
        self._path = path
        self._number: int | None = None

    def check(self) -> None:
        """Raise StoreNewer where the store has gone through a migration that is unknown here. To be called within a
        transaction, whenever others have written since the last one."""
        number = self._execute(_NUMBER).get
        if number != self._number:
            missing(self._connection, self._path, migration_names())
            self._number = number
