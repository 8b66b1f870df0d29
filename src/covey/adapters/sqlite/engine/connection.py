"""Connections: setup of SQLite and the checks of the file before its first use."""

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
"""full: a commit survives a power cut. normal: a power cut may lose the newest commits, but no older ones."""

Row = tuple[Any, ...]
"""Values as SQLite returns them; the decoders convert them to types."""

CHECKPOINT_PAGES: Final = 1000
"""Pages of log after which SQLite runs a checkpoint at the end of a commit. In a program with an event loop, a thread
runs checkpoints beside the commits, and more often (checkpoints.py)."""

LOG_LIMIT_BYTES: Final = 64 * 1024 * 1024
"""Size limit of the log. A log that grew larger during a long read is truncated when SQLite restarts the log."""

CACHE_KIB: Final = 16 * 1024
STATEMENTS: Final = 256
"""Size of the statement cache: more than the statements of this package, so that each is prepared once."""


def _leave_connections_to_the_parent() -> None:
    from covey.disk.forked_databases import keep_connections  # here because only a forked child needs it

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
            missing(self._connection, self._path, migration_names())
            self._number = number
