"""Files that get their names only when they are complete."""

import errno
import os
from collections.abc import Generator
from contextlib import contextmanager
from typing import IO, Final, NamedTuple

from covey.core.errors import Invalid, StoreFull, StoreReadOnly, Unavailable, WouldOverwrite
from covey.disk.file_lock import FileLock
from covey.disk.files import sync, sync_folder

UNFINISHED: Final = ".part"
RECORDS: Final = ".part-records"
"""Suffixes of temporary files."""


class NewFiles(NamedTuple):
    archive: IO[bytes]
    records: str


@contextmanager
def whole_file(file: str, *, replace: bool) -> Generator[IO[bytes]]:
    """Yield a file to write to. The file gets its name, durably, when the block ends without an error; otherwise no
    file is left. The leftover of a killed process is overwritten by the next. Raise BlockingIOError if another process
    is writing the same file, and another OSError if the file can't be written."""
    if os.path.isdir(file):
        raise Invalid("file", file, "it is a folder")
    if os.path.lexists(file) and not replace:
        raise WouldOverwrite(file, "it exists already")
    unfinished = f"{file}{UNFINISHED}"
    with _own(unfinished) as new:
        try:
            yield new
            new.flush()
            sync(new.fileno())
            os.replace(unfinished, file)
        except BaseException:
            _remove(unfinished)
            raise
    sync_folder(os.path.dirname(os.path.abspath(file)))


@contextmanager
def final_file(file: str, *, replace: bool) -> Generator[NewFiles]:
    """Yield the files for a backup: the archive, which is a `whole_file`, and a temporary file for the records."""
    records = f"{file}{RECORDS}"
    with written(file), whole_file(file, replace=replace) as archive:
        try:
            _remove_records(records)
            os.close(os.open(records, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))
            yield NewFiles(archive, records)
        finally:
            _remove_records(records)  # before the archive gets its name, so that no other file is left then


@contextmanager
def written(file: str) -> Generator[None]:
    """Raise an OSError while writing `file` as an error of Covey."""
    try:
        yield
    except BlockingIOError:
        raise Unavailable(f"another backup is being written to {file}", path=file) from None
    except OSError as error:
        reason = error.strerror or str(error)
        if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
            raise StoreFull(file) from error
        if error.errno in (errno.EROFS, errno.EACCES, errno.EPERM):
            raise StoreReadOnly(file, reason) from error
        if error.errno in (errno.ENOENT, errno.ENOTDIR):
            raise Invalid("file", file, "there is no such folder") from error
        raise Unavailable(f"{file} can't be written: {reason}", path=file) from error


@contextmanager
def _own(path: str) -> Generator[IO[bytes]]:
    """Yield the file, locked: two processes that write to one path would overwrite each other's data."""
    lock = FileLock(path)
    try:
        if not lock.take_at_once() or not _is_at(path, lock.descriptor):
            raise BlockingIOError  # another process is writing the file, or has just finished it
        os.ftruncate(lock.descriptor, 0)
        # A separate open file, because a forked child closes the one of the lock.
        with open(path, "r+b") as file:
            yield file
    finally:
        lock.close()


def _is_at(path: str, descriptor: int) -> bool:
    try:
        return os.path.samestat(os.stat(path), os.fstat(descriptor))
    except FileNotFoundError:
        return False


def _remove_records(path: str) -> None:
    """Remove a database with the files of its engine: the log of an old database must never be applied to a new one."""
    for beside in ("", "-journal", "-wal", "-shm"):
        _remove(f"{path}{beside}")


def _remove(path: str) -> None:
    try:
        os.unlink(path)
    except FileNotFoundError:
        return
