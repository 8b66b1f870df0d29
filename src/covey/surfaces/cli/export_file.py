"""The file that an export is written to: under its name it is whole, or it is not there."""

import errno
import fcntl
import os
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, Final

from covey.core.errors import Invalid, StoreFull, WouldOverwrite

UNFINISHED: Final = ".part"
"""Added to the name while the file is being written."""


@contextmanager
def new_file(path: Path, *, replace: bool) -> Generator[BinaryIO]:
    """Give a file to write to. It gets its name, on the disk, when the block ends well. What a killed one has left is
    written over by the next."""
    if path.is_dir():
        raise Invalid("file", str(path), "it is a folder")
    if os.path.lexists(path) and not replace:
        raise WouldOverwrite(str(path), "it is there already")
    unfinished = path.with_name(path.name + UNFINISHED)
    try:
        with _mine(unfinished) as file:
            try:
                file.truncate(0)
                yield file
                file.flush()
                os.fsync(file.fileno())
                unfinished.replace(path)
            except BaseException:
                unfinished.unlink(missing_ok=True)
                raise
        _sync_folder(path.absolute().parent)
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
            raise StoreFull(str(path)) from error
        raise Invalid("file", str(path), f"it can't be written: {(error.strerror or str(error)).lower()}") from error


def _mine(path: Path) -> BinaryIO:
    """Return the file with a lock on it: two exports to one place would write over each other."""
    file = open(path, "ab", opener=lambda name, flags: os.open(name, flags, 0o600))  # noqa: SIM115 - the caller closes it
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if not path.exists() or not os.path.samestat(path.stat(), os.fstat(file.fileno())):
            raise BlockingIOError  # it was another's, who has just finished it
    except BlockingIOError:
        file.close()
        raise Invalid("file", str(path), "another export is being written there") from None
    return file


def _sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
