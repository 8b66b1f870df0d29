"""Who uses blobs: a lock that those who put or ask for one share, and that nobody shares who removes one."""

import errno
import os
import time
from collections.abc import Generator
from contextlib import contextmanager
from typing import Final

from covey.disk.file_lock import FileLock
from covey.ports.blobs import KEPT_S

_FRESH_S: Final = 60.0
"""A file that was touched so recently is not touched again."""
_NO_RIGHT: Final = (errno.EROFS, errno.EACCES, errno.EPERM)


@contextmanager
def sharing(folder: str) -> Generator[None]:
    """Let nobody remove a blob of the folder meanwhile."""
    lock = _open(folder)
    try:
        if lock is not None:
            lock.take(shared=True)
        yield
    finally:
        if lock is not None:
            lock.close()


def remove_unused(folder: str, path: str) -> bool:
    """Remove a file that nobody has used lately, unless somebody shares the lock; tell whether it is gone."""
    lock = _open(folder)
    if lock is None:
        return False
    try:
        if not lock.take_at_once() or _age(path) < KEPT_S + _FRESH_S:
            return False
        os.unlink(path)
    except FileNotFoundError:
        return True
    finally:
        lock.close()
    return True


def touch(path: str) -> None:
    """Note that a file is used now. Where that can't be written, it can't be removed either."""
    if _age(path) < _FRESH_S:
        return
    try:
        os.utime(path)
    except OSError as error:
        if error.errno not in _NO_RIGHT:
            raise


def _age(path: str) -> float:
    """Return for how many seconds a file was not used. One from the future is as old as one from now."""
    return max(0.0, time.time() - os.stat(path).st_mtime)


def _open(folder: str) -> FileLock | None:
    """Return the lock; None where it can't be made."""
    try:
        try:
            return FileLock(f"{folder}/lock")
        except FileNotFoundError:
            os.makedirs(folder, mode=0o700, exist_ok=True)
            return FileLock(f"{folder}/lock")
    except OSError as error:
        if error.errno not in _NO_RIGHT:
            raise
        return None
