"""The files of a store: creation, the condition of the opened files, and the translation of their errors.

Two events end the permission of this process to continue with the files that it opened. First, the path no longer names
the opened files: the files were removed, moved or replaced, and writes to them are lost. Second, the disk did not
confirm a write: the kernel may have dropped the pages, and a later sync would succeed without them. A store that was
ended stays ended until the store is opened again.

This module has the only table from errors of SQLite and the operating system to errors of Covey.
"""

import errno
import os
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Final, NoReturn

import apsw

from covey.core.errors import (
    CoveyError,
    StoreBusy,
    StoreCorrupt,
    StoreFull,
    StoreMissing,
    StoreReadOnly,
    StoreStopped,
    StoreUnconfirmed,
    Unavailable,
)

# No pathlib, as in access.py.


PRIVATE_FOLDER: Final = 0o700
HIDDEN_FOLDER: Final = ".covey"
EMPTY: Final = (
    "it is an empty file (0 bytes): the store was cut off, or another program made the file. Restore a backup to this"
    " path; or, for a new space, remove the file and run `covey init`"
)


def prepare(path: str) -> None:
    """Make the folder and the file of a database if they are missing. Refuse an empty file: Covey never makes one, so
    the file is a truncated store or belongs to another program.

    This function never opens an existing file: closing it would drop SQLite's locks on the file in this process.
    """
    folder = os.path.dirname(path)
    if not os.path.isdir(folder):
        _make_folder(folder)
        if os.path.basename(folder) == HIDDEN_FOLDER:
            from covey.disk.files import write_new  # imported late because only a new folder needs it

            write_new(os.path.join(folder, ".gitignore"), b"*\n")
    try:
        if is_empty(path):
            raise StoreCorrupt(path, EMPTY)
    except FileNotFoundError:
        from covey.adapters.sqlite.engine.blank import make_blank  # imported late because only a new store needs it

        make_blank(path)


def is_empty(path: str) -> bool:
    """Tell whether a file has 0 bytes and no log. After a power cut, all data of a new store may be in the log. Raise
    FileNotFoundError if the file is missing."""
    if os.stat(path).st_size > 0:
        return False
    try:
        return os.stat(f"{path}-wal").st_size == 0
    except FileNotFoundError:
        return True


def remove(path: str) -> None:
    """Remove a file, if there is one."""
    try:
        os.unlink(path)
    except FileNotFoundError:
        return


def _make_folder(folder: str) -> None:
    """Make a folder and its parents, and sync each parent, so that a power cut does not remove the folder and its
    files."""
    above = os.path.dirname(folder)
    if not os.path.isdir(above):
        _make_folder(above)
    try:
        os.mkdir(folder, PRIVATE_FOLDER)
    except FileExistsError:
        return  # another process was faster; or a file has this name, and opening the database will report that
    from covey.disk.files import sync_folder  # imported late because only a new folder needs it

    sync_folder(above)


# No pathlib, as in access.py.


BUSY_LIMIT_S: Final = 30.0
"""Seconds that a process waits for the writer lock before it raises StoreBusy."""

Explain = Callable[[str, Exception], CoveyError]


def _busy(path: str, _error: Exception) -> CoveyError:
    return StoreBusy(path, BUSY_LIMIT_S)


def _full(path: str, _error: Exception) -> CoveyError:
    return StoreFull(path)


def _read_only(path: str, error: Exception) -> CoveyError:
    return StoreReadOnly(path, str(error))


def _corrupt(path: str, error: Exception) -> CoveyError:
    return StoreCorrupt(path, str(error))


def _unavailable(path: str, error: Exception) -> CoveyError:
    return Unavailable(f"{path} can't be used: {error}", path=path, reason=str(error))


def _cannot_open(path: str, error: Exception) -> CoveyError:
    if os.path.isdir(path):
        return StoreCorrupt(path, "it is a folder")
    # SQLite makes the log and its index beside the database, and does not say why it could not.
    if not os.access(os.path.dirname(path), os.W_OK):
        return StoreReadOnly(path, str(error))
    return _unavailable(path, error)


RESULTS: Final[Mapping[int, Explain]] = {
    apsw.SQLITE_BUSY: _busy,
    apsw.SQLITE_LOCKED: _busy,
    apsw.SQLITE_PROTOCOL: _busy,
    apsw.SQLITE_FULL: _full,
    apsw.SQLITE_IOERR_SHMSIZE: _full,  # no room for the index of the log
    apsw.SQLITE_READONLY: _read_only,
    apsw.SQLITE_PERM: _read_only,
    apsw.SQLITE_CANTOPEN: _cannot_open,
    apsw.SQLITE_CORRUPT: _corrupt,
    apsw.SQLITE_NOTADB: _corrupt,
    apsw.SQLITE_FORMAT: _corrupt,
    apsw.SQLITE_IOERR: _unavailable,
    apsw.SQLITE_NOMEM: _unavailable,
    apsw.SQLITE_NOLFS: _unavailable,
    apsw.SQLITE_INTERRUPT: _unavailable,
}
"""By result code; the extended code is looked up first. An error without an entry is a bug in this package and is not
translated."""

_NO_SUCH: Final = ("no such column", "no such table", "no such index")
"""Messages of SQLite for a damaged schema. The statements of this package fit the migrations."""

REASONS: Final[Mapping[int, Explain]] = {
    errno.EROFS: _read_only,
    errno.EACCES: _read_only,
    errno.EPERM: _read_only,
    errno.ENOSPC: _full,
    errno.EDQUOT: _full,
}
"""By errno; every other errno is Unavailable."""


def explain(path: str, error: Exception) -> Exception:
    """Return the Covey error for an error of SQLite or of the operating system, or the error itself."""
    if isinstance(error, apsw.Error):
        known = RESULTS.get(getattr(error, "extendedresult", 0)) or RESULTS.get(getattr(error, "result", 0))
        if known is None and str(error).startswith(_NO_SUCH):
            return StoreCorrupt(path, f"its tables are not those of a Covey store: {error}")
        return known(path, error) if known else error
    if isinstance(error, UnicodeDecodeError):  # SQLite accepts any bytes as text
        return StoreCorrupt(path, f"a text in it is not valid UTF-8 ({error.reason})")
    if isinstance(error, OSError):
        return REASONS.get(error.errno or 0, _unavailable)(path, error)
    return error


def concerns_store(error: apsw.Error) -> bool:
    """Tell whether an error concerns the store, and so all operations, and is not the mistake of one operation."""
    return getattr(error, "result", 0) in RESULTS


def raise_explained(path: str, error: Exception) -> NoReturn:
    """Raise the Covey error for an error, or the error itself."""
    fact = explain(path, error)
    if fact is error:
        raise error
    raise fact from error


# No pathlib and no threads: short-lived programs import this module.


_LOG: Final = ("-wal", "-shm")
"""The files that SQLite has open beside the database."""

_UNCONFIRMED: Final = frozenset({apsw.SQLITE_IOERR_FSYNC, apsw.SQLITE_IOERR_DIR_FSYNC})

_stopped: set[str] = set()
"""Stores with a write of this process that the disk did not confirm, and that were not opened again since."""

FileIdentity = tuple[int, int]
"""The device and the inode number of a file. No other file gets the inode number while this file is open."""


class StoreCondition:
    """The condition of the store at `path`, shared by all its connections in this process. Make the condition before
    the first connection. Safe for several threads."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._fault: Callable[[], CoveyError] | None = None
        """Makes the error that ended the store."""
        self._unconfirmed: str | None = None
        """The reason why the disk did not confirm a write."""
        self._beside: Sequence[tuple[str, FileIdentity]] = ()
        try:
            prepare(path)
            self._database = _identity(path)
        except OSError as error:
            raise_explained(path, error)

    def opened(self, connection: apsw.Connection) -> None:
        """Record the identity of the opened files, after the first connection. If the disk did not confirm an earlier
        write of this process, write the log back first: a checkpoint writes all pages of the log again."""
        found: list[tuple[str, FileIdentity]] = []
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


def _identity(path: str) -> FileIdentity:
    found = os.stat(path)
    return found.st_dev, found.st_ino
