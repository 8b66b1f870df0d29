"""What SQLite and the operating system complain of, in Covey's words: the one table from their errors to ours."""

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
"""How long a process waits for its turn before it gives up with StoreBusy."""

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
    # The log and its index are made beside the database, and SQLite does not say why it could not make them.
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
"""By result code, the extended one first. What is not here is a mistake in this package and stays what it is."""

_NO_SUCH: Final = ("no such column", "no such table", "no such index")
"""What SQLite says where its description of the tables is damaged: the statements here fit the migrations."""

REASONS: Final[Mapping[int, Explain]] = {
    errno.EROFS: _read_only,
    errno.EACCES: _read_only,
    errno.EPERM: _read_only,
    errno.ENOSPC: _full,
    errno.EDQUOT: _full,
}
"""By errno; any other is Unavailable."""


def explain(path: str, error: Exception) -> Exception:
    """Return the fact that an error of SQLite or of the operating system stands for, or the error itself."""
    if isinstance(error, apsw.Error):
        known = RESULTS.get(getattr(error, "extendedresult", 0)) or RESULTS.get(getattr(error, "result", 0))
        if known is None and str(error).startswith(_NO_SUCH):
            return StoreCorrupt(path, f"its tables are not those of a Covey store: {error}")
        return known(path, error) if known else error
    if isinstance(error, UnicodeDecodeError):  # SQLite stores any bytes as text
        return StoreCorrupt(path, f"a text in it is none ({error.reason})")
    if isinstance(error, OSError):
        return REASONS.get(error.errno or 0, _unavailable)(path, error)
    return error


def concerns_store(error: apsw.Error) -> bool:
    """Tell whether an error is the store's trouble, which all operations share, and not one operation's mistake."""
    return getattr(error, "result", 0) in RESULTS


def raise_explained(path: str, error: Exception) -> NoReturn:
    """Raise the fact that an error stands for, or the error itself."""
    fact = explain(path, error)
    if fact is error:
        raise error
    raise fact from error
