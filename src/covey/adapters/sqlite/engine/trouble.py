"""Error translation: the only table from errors of SQLite and the operating system to errors of Covey."""

# No pathlib, as in statements.py.

import errno
import os
from collections.abc import Callable, Mapping
from typing import Final, NoReturn

import apsw

from covey.core.errors import (
    CoveyError,
    StoreBusy,
    StoreCorrupt,
    StoreFull,
    StoreReadOnly,
    Unavailable,
)

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
        return StoreCorrupt(path, f"a text in it is none ({error.reason})")
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
