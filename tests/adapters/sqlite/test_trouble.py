"""The mapping from errors of SQLite and of the operating system to Covey's errors."""

import errno

import apsw
import pytest

from covey.adapters.sqlite.engine.files import RESULTS, explain
from covey.core.errors import CoveyError, StoreBusy, StoreCorrupt, StoreFull, StoreReadOnly, Unavailable

PATH = "/nowhere/covey.db"


@pytest.mark.parametrize(
    ("code", "fact"),
    [
        (apsw.SQLITE_BUSY, StoreBusy),
        (apsw.SQLITE_BUSY_SNAPSHOT, StoreBusy),
        (apsw.SQLITE_LOCKED, StoreBusy),
        (apsw.SQLITE_FULL, StoreFull),
        (apsw.SQLITE_IOERR_SHMSIZE, StoreFull),
        (apsw.SQLITE_READONLY, StoreReadOnly),
        (apsw.SQLITE_READONLY_DIRECTORY, StoreReadOnly),
        (apsw.SQLITE_CORRUPT, StoreCorrupt),
        (apsw.SQLITE_CORRUPT_INDEX, StoreCorrupt),
        (apsw.SQLITE_NOTADB, StoreCorrupt),
        (apsw.SQLITE_IOERR, Unavailable),
        (apsw.SQLITE_IOERR_FSYNC, Unavailable),
        (apsw.SQLITE_NOMEM, Unavailable),
    ],
)
def test_a_failure_of_the_store_becomes_a_covey_error(code: int, fact: type[CoveyError]) -> None:
    assert type(explain(PATH, apsw.exception_for(code))) is fact


@pytest.mark.parametrize("code", [apsw.SQLITE_ERROR, apsw.SQLITE_CONSTRAINT, apsw.SQLITE_MISUSE, apsw.SQLITE_RANGE])
def test_an_error_in_a_statement_is_not_translated(code: int) -> None:
    error = apsw.exception_for(code)
    assert explain(PATH, error) is error


@pytest.mark.parametrize(
    ("number", "fact"),
    [
        (errno.EROFS, StoreReadOnly),
        (errno.EACCES, StoreReadOnly),
        (errno.ENOSPC, StoreFull),
        (errno.EDQUOT, StoreFull),
        (errno.EIO, Unavailable),
    ],
)
def test_a_failure_of_a_file_becomes_a_covey_error(number: int, fact: type[CoveyError]) -> None:
    assert type(explain(PATH, OSError(number, "trouble"))) is fact


def test_every_error_has_the_path() -> None:
    for code in RESULTS:
        fact = explain(PATH, apsw.exception_for(code))
        assert isinstance(fact, CoveyError)
        assert fact.details["path"] == PATH
