"""The target of a restore: no other process can open the store until the restore is done.

The new records are first staged in a file beside the store. Then the pages of that file are copied over the store in
one transaction, so that a power cut or a kill leaves either the old records or the new ones.
"""

import fcntl
import os
from collections.abc import AsyncGenerator, Generator
from contextlib import AbstractAsyncContextManager, asynccontextmanager, contextmanager
from time import strftime
from typing import Final, TypeVar

import apsw

from covey.adapters.sqlite.care.snapshots import copy_pages, examine
from covey.adapters.sqlite.engine.access import migration_names, on_one_cursor, statements
from covey.adapters.sqlite.engine.connection import absolute, connect, missing_migrations
from covey.adapters.sqlite.engine.files import StoreCondition, is_empty, raise_explained, remove
from covey.adapters.sqlite.search.index import delete_index
from covey.adapters.sqlite.transactions.store import Reader, SqliteStore
from covey.core.errors import BackupUnusable, SpaceInUse, StoreCorrupt, WouldOverwrite
from covey.core.store_url import APPLICATION_ID
from covey.ports.care import PlaceClaim, ProgressCallback, Snapshot
from covey.ports.store import Operation, Store

T = TypeVar("T")

PATIENCE_MS: Final = 2000
"""Milliseconds to wait for a command that is about to end."""

STAGING: Final = "-restoring"
_BESIDE: Final = ("", "-wal", "-shm", "-journal", "-turn")
"""Suffixes of the files of a database."""

_FIRST_LOCK: Final = 0x40000000
_LOCKS: Final = 512

_SQL = statements("snapshots")
_STORE = statements("store")


class SqliteRestoreTarget:
    """A place of a store, for one thread. Never suspends."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self._path = absolute(path)

    def claim(self, *, replace: bool) -> AbstractAsyncContextManager[PlaceClaim]:
        return self._claim(replace)

    @asynccontextmanager
    async def _claim(self, replace: bool) -> AsyncGenerator[PlaceClaim]:
        was_there = self._make_room(replace)
        connection = self._hold()
        claimed: _StoreClaim | None = None
        try:
            claimed = _StoreClaim(connection, self._path)
            if not claimed.is_empty and not replace:
                raise _filled(self._path)
            claimed.clear_staging()
            try:
                yield claimed
            finally:
                await claimed.close()
        finally:
            if not was_there and (claimed is None or not claimed.is_installed):
                _remove_store(self._path)  # while no other process can open the store
            connection.close()

    def _make_room(self, replace: bool) -> bool:
        """Make an empty store if there is none, or if the store is damaged and may be replaced. Tell whether there was
        a file."""
        was_there = os.path.lexists(self._path)
        if _is_filled(self._path) and not replace:
            raise _filled(self._path)
        if os.path.isfile(self._path) and is_empty(self._path):
            remove(self._path)
        try:
            connect(self._path, "full").close()
        except StoreCorrupt:
            if not replace or not _is_damaged(self._path):
                raise
            _set_aside(self._path)
            connect(self._path, "full").close()
        return was_there

    def _hold(self) -> apsw.Connection:
        try:
            connection = apsw.Connection(self._path, flags=apsw.SQLITE_OPEN_READWRITE)
            try:
                connection.set_busy_timeout(PATIENCE_MS)
                execute = on_one_cursor(connection)
                execute(_SQL["alone"])
                execute(_SQL["claim"])
                missing_migrations(connection, self._path, migration_names())
            except BaseException:
                connection.close()
                raise
        except apsw.BusyError:
            raise SpaceInUse(self._path, "another process has it open") from None
        except apsw.Error as error:
            raise_explained(self._path, error)
        return connection


class _StoreClaim:
    def __init__(self, connection: apsw.Connection, path: str) -> None:
        self._connection = connection
        self._path = path
        self._reader = Reader(connection, path, StoreCondition(path))
        self._store: SqliteStore | None = None
        self.name = path
        self.staging_file = f"{path}{STAGING}"
        self.is_installed = False

    @property
    def is_empty(self) -> bool:
        return on_one_cursor(self._connection)(_SQL["position"]).get == 0

    async def read(self, operation: Operation[T]) -> T:
        return self._reader.alone(operation)

    async def staged(self) -> tuple[Store, Snapshot]:
        with _damage_explained():
            snapshot, faults = examine(self.staging_file)
        if faults:
            raise BackupUnusable(self.staging_file, "; ".join(faults[:3]))
        try:
            self._store = SqliteStore(self.staging_file, synchronous="normal")
        except StoreCorrupt as error:
            raise BackupUnusable(self.staging_file, error.message) from error
        return self._store, snapshot

    async def install(self, tell: ProgressCallback) -> None:
        if self._store is not None:
            await self._store.close()
        delete_index(f"{self._path}-search")
        try:
            source = apsw.Connection(self.staging_file, flags=apsw.SQLITE_OPEN_READWRITE)
            try:
                copy_pages(source, self._connection, tell)
                self.is_installed = True
            finally:
                source.close()
        except apsw.Error as error:
            raise_explained(self._path, error)

    async def close(self) -> None:
        if self._store is not None:
            await self._store.close()
        self.clear_staging()

    def clear_staging(self) -> None:
        """Remove the staged files of this process, or of a process that was killed."""
        for beside in _BESIDE:
            remove(f"{self.staging_file}{beside}")


def _remove_store(path: str) -> None:
    """Remove an empty store that was made here only for the claim."""
    for beside in _BESIDE:
        remove(f"{path}{beside}")


def _filled(path: str) -> WouldOverwrite:
    return WouldOverwrite(path, "there is a space in it")


def _is_filled(path: str) -> bool:
    """Tell whether a store has events. A file that is no store or can't be read counts as a store with events."""
    if not os.path.exists(path) or os.path.getsize(path) == 0:
        return False
    try:
        connection = apsw.Connection(path, flags=apsw.SQLITE_OPEN_READWRITE)
        try:
            connection.set_busy_timeout(PATIENCE_MS)
            return on_one_cursor(connection)(_SQL["position"]).get > 0
        finally:
            connection.close()
    except apsw.Error:
        return True


def _is_damaged(path: str) -> bool:
    """Tell whether a file is a damaged store, or can't be read. A folder and a sound database of another program are
    not."""
    if not os.path.isfile(path):
        return False
    try:
        connection = apsw.Connection(path, flags=apsw.SQLITE_OPEN_READWRITE)
        try:
            return on_one_cursor(connection)(_STORE["read_mark"]).get == APPLICATION_ID
        finally:
            connection.close()
    except apsw.Error:
        return True


def _set_aside(path: str) -> None:
    """Rename a damaged store, with its log."""
    _check_unlocked(path)
    name = f"{path}-damaged-{strftime('%Y%m%dT%H%M%S')}"
    for beside in ("-wal", "-shm", ""):
        if os.path.exists(f"{path}{beside}"):
            os.rename(f"{path}{beside}", f"{name}{beside}")


@contextmanager
def _damage_explained() -> Generator[None]:
    try:
        yield
    except apsw.Error as error:
        raise BackupUnusable("the backup's covey.db", str(error)) from error


def _check_unlocked(path: str) -> None:
    """Raise SpaceInUse if another process has the file open: SQLite locks these bytes, whatever the content."""
    descriptor = os.open(path, os.O_RDWR | os.O_CLOEXEC)
    try:
        fcntl.lockf(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB, _LOCKS, _FIRST_LOCK)
    except BlockingIOError:
        raise SpaceInUse(path, "another process has it open") from None
    finally:
        os.close(descriptor)
