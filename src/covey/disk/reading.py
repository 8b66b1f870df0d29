"""Safe reading of files that other programs may have written: it follows no link, does not block, and leaves no file
open.

Only regular files are ever opened. A pipe would block the reader, a device may act on being opened, and `open` with the
descriptor of a folder raises without closing it.
"""

# Short-lived programs import this module, so it imports little.

import os
import stat
from collections.abc import Callable

_CHUNK = 1024 * 1024
_FILE = os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC

Check = Callable[[os.stat_result], None]


class NotReadable(Exception):
    """A file could not be read; the text has the reason."""


def accept_any(_status: os.stat_result) -> None:
    """Accept any regular file."""


def read_beneath(folder: str, path: str, limit: int, check: Check = accept_any) -> bytes:
    """Return the content of the file at `path`, a relative path, in a folder.

    No component of `path` is followed if it is a link, so the file is in the folder at the moment of reading, whatever
    other programs rename meanwhile. `check` may raise before the file is opened. Raise NotReadable if the path is no
    regular file, if the file has more than `limit` bytes, or if the system refuses.
    """
    *above, name = [part for part in path.split("/") if part] or [""]
    try:
        held = os.open(folder, _FOLDER & ~os.O_NOFOLLOW)
        try:
            for part in above:
                if part == "..":
                    raise NotReadable("it is outside the folder")
                below = os.open(part, _FOLDER, dir_fd=held)
                held, outer = below, held
                os.close(outer)
            return _read(name, held, limit, check)
        finally:
            os.close(held)
    except OSError as error:
        raise NotReadable(os.strerror(error.errno or 0).lower()) from None


def _read(name: str, folder: int, limit: int, check: Check) -> bytes:
    if name in ("", ".", ".."):
        raise NotReadable("it is not a regular file")
    _check_status(os.stat(name, dir_fd=folder, follow_symlinks=False), limit, check)
    descriptor = os.open(name, _FILE, dir_fd=folder)
    try:
        _check_status(os.fstat(descriptor), limit, check)
        return _content(descriptor, limit)
    finally:
        os.close(descriptor)


def _check_status(status: os.stat_result, limit: int, check: Check) -> None:
    if stat.S_ISLNK(status.st_mode):
        raise NotReadable("it is a symbolic link")
    if not stat.S_ISREG(status.st_mode):
        raise NotReadable("it is not a regular file")
    if status.st_size > limit:
        raise _too_large(limit)
    check(status)


def _content(descriptor: int, limit: int) -> bytes:
    chunks: list[bytes] = []
    left = limit + 1
    while left > 0 and (chunk := os.read(descriptor, min(left, _CHUNK))):
        chunks.append(chunk)
        left -= len(chunk)
    if left <= 0:
        raise _too_large(limit)
    return b"".join(chunks)


def _too_large(limit: int) -> NotReadable:
    return NotReadable(f"it is over the limit of {limit} bytes")
