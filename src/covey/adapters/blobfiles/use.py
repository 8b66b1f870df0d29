"""Who uses blobs: a lock that those who put or ask for one share, and that nobody shares who removes one."""

import errno
import fcntl
import os
import time
from collections.abc import Generator
from contextlib import contextmanager
from typing import Final

from covey.ports.blobs import KEPT_S

_FRESH_S: Final = 60.0
"""A file that was touched so recently is not touched again."""
_NO_RIGHT: Final = (errno.EROFS, errno.EACCES, errno.EPERM)


@contextmanager
def sharing(folder: str) -> Generator[None]:
    """Let nobody remove a blob of the folder meanwhile."""
    descriptor = _open(folder)
    try:
        if descriptor is not None:
            fcntl.flock(descriptor, fcntl.LOCK_SH)
        yield
    finally:
        if descriptor is not None:
            os.close(descriptor)


def remove_unused(folder: str, path: str) -> bool:
    """Remove a file that nobody has used lately, unless somebody shares the lock; tell whether it is gone."""
    descriptor = _open(folder)
    if descriptor is None:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if _age(path) < KEPT_S + _FRESH_S:
            return False
        os.unlink(path)
    except BlockingIOError:
        return False
    except FileNotFoundError:
        return True
    finally:
        os.close(descriptor)
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


def _open(folder: str) -> int | None:
    """Return the lock; None where it can't be made."""
    flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC
    try:
        try:
            return os.open(f"{folder}/lock", flags, 0o600)
        except FileNotFoundError:
            os.makedirs(folder, mode=0o700, exist_ok=True)
            return os.open(f"{folder}/lock", flags, 0o600)
    except OSError as error:
        if error.errno not in _NO_RIGHT:
            raise
        return None
