"""The condition of an open store: permission for this process to continue with the files that it opened.

Two events end the permission. First, the path no longer names the opened files: the files were removed, moved or
replaced, and writes to them are lost. Second, the disk did not confirm a write: the kernel may have dropped the pages,
and a later sync would succeed without them. A store that was ended stays ended until the store is opened again.
"""

# No pathlib and no threads: short-lived programs import this module.

import os
from collections.abc import Callable, Sequence
from functools import partial
from typing import Final, NoReturn

import apsw

from covey.adapters.sqlite.engine.files import prepare
from covey.adapters.sqlite.engine.trouble import explain, raise_explained
from covey.core.errors import CoveyError, StoreMissing, StoreStopped, StoreUnconfirmed

_LOG: Final = ("-wal", "-shm")
"""The files that SQLite has open beside the database."""

_UNCONFIRMED: Final = frozenset({apsw.SQLITE_IOERR_FSYNC, apsw.SQLITE_IOERR_DIR_FSYNC})

_stopped: set[str] = set()
"""Stores with a write of this process that the disk did not confirm, and that were not opened again since."""

Identity = tuple[int, int]
"""The device and the inode number of a file. No other file gets the inode number while this file is open."""


class Condition:
    """The condition of the store at `path`, shared by all its connections in this process. Make the condition before
    the first connection. Safe for several threads."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._fault: Callable[[], CoveyError] | None = None
        """Makes the error that ended the store."""
        self._unconfirmed: str | None = None
        """The reason why the disk did not confirm a write."""
        self._beside: Sequence[tuple[str, Identity]] = ()
        try:
            prepare(path)
            self._database = _identity(path)
        except OSError as error:
            raise_explained(path, error)

    def opened(self, connection: apsw.Connection) -> None:
        """Record the identity of the opened files, after the first connection. If the disk did not confirm an earlier
        write of this process, write the log back first: a checkpoint writes all pages of the log again."""
        found: list[tuple[str, Identity]] = []
        for beside in _LOG:
            try:
                found.append((f"{self._path}{beside}", _identity(f"{self._path}{beside}")))
            except FileNotFoundError:
                continue  # a database without a log
        self._beside = found
        self.check()
        if self._path in _stopped:
            try:
                connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_FULL)
            except apsw.Error as error:
                raise_explained(self._path, error)
            _stopped.discard(self._path)

    def check(self) -> None:
        """Raise the error that ended the store: StoreMissing if the path no longer names the opened files, StoreStopped
        after a write that the disk did not confirm."""
        self.check_database()
        try:
            for path, identity in self._beside:
                if _identity(path) != identity:
                    self._miss(f"{path} was replaced")
        except OSError as error:
            self._miss(f"{error.filename}: {error.strerror}")

    def check_database(self) -> None:
        """Like `check`, but without the log files. This is enough for a read."""
        self.check_writable()
        try:
            if _identity(self._path) != self._database:
                self._miss("another file has its name")
        except OSError as error:
            self._miss(str(error.strerror))

    def check_writable(self) -> None:
        """Raise the error that ended the store, if an earlier check found one."""
        if self._fault is not None:
            raise self._fault()

    def check_confirmed(self) -> None:
        """Raise StoreUnconfirmed if the disk did not confirm an earlier write. For a commit that SQLite has already
        made."""
        if self._unconfirmed is not None:
            raise StoreUnconfirmed(self._path, self._unconfirmed)

    def check_committed(self) -> None:
        """Like `check`, for a commit that SQLite has already made."""
        self.check_confirmed()
        self.check()

    def stop(self, reason: str) -> None:
        """End all writes: the disk did not confirm a write."""
        self._unconfirmed = reason
        self._fault = self._fault or partial(StoreStopped, self._path, reason)
        _stopped.add(self._path)

    def unconfirmed(self, error: Exception, message_ids: Sequence[str] = ()) -> StoreUnconfirmed:
        """End all writes, and return the error for the callers whose commit the disk did not confirm."""
        reason = (error.strerror if isinstance(error, OSError) else None) or str(error)
        self.stop(reason)
        return StoreUnconfirmed(self._path, reason, message_ids)

    def raise_explained(self, error: Exception, message_ids: Sequence[str] = ()) -> NoReturn:
        """Translate an error of a commit, and raise the result."""
        if is_unconfirmed(error):
            raise self.unconfirmed(error, message_ids) from error
        fact = explain(self._path, error)
        if fact is error:
            raise error
        raise fact from error

    def _miss(self, reason: str) -> NoReturn:
        self._fault = partial(StoreMissing, self._path, reason)
        raise self._fault()


def is_unconfirmed(error: Exception) -> bool:
    """Tell whether an error of SQLite is a failed sync."""
    return getattr(error, "extendedresult", 0) in _UNCONFIRMED


def _identity(path: str) -> Identity:
    found = os.stat(path)
    return found.st_dev, found.st_ino
