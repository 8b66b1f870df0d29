"""Files: synchronisation with the disk (fsync), private files, and safe reading of files that other programs may have
written.

On macOS, fsync stops at the drive's own cache, which a power cut empties. There F_FULLFSYNC is used, unless the file
system does not support it, such as a network file system. A safe read follows no link, does not block, and leaves no
file open. Only regular files are ever opened: a pipe would block the reader, a device may act on being opened, and
`open` with the descriptor of a folder raises without closing it.
"""

import fcntl
import os
import stat
import sys
from collections.abc import Callable

# Short-lived programs import this module, so it imports little.


def sync(descriptor: int) -> None:
    """Block until the content and the metadata of a file are on the disk; for a folder, its entries."""
    if not _has_asked_drive(descriptor):
        os.fsync(descriptor)


def sync_data(descriptor: int) -> None:
    """Like `sync`, but without metadata that is not needed to read the content, such as the time of the last change."""
    if not _has_asked_drive(descriptor):
        os.fsync(descriptor) if sys.platform == "darwin" else os.fdatasync(descriptor)


def sync_folder(folder: str) -> None:
    """Block until the entries of a folder are on the disk."""
    sync_and_close(open_folder(folder))


def open_folder(folder: str) -> int:
    """Return a descriptor of a folder, for `sync`."""
    return os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)


def sync_and_close(descriptor: int) -> None:
    """Synchronise and close a descriptor; close it also after an error."""
    try:
        sync(descriptor)
    finally:
        os.close(descriptor)


def _has_asked_drive(descriptor: int) -> bool:
    if sys.platform == "darwin":
        try:
            fcntl.fcntl(descriptor, fcntl.F_FULLFSYNC)
        except OSError:
            return False
        return True
    return False


# Short-lived programs import this module, so it imports little.


def private(file: str, _flags: int) -> int:
    """Open a file for writing and truncate it. This is an opener for `open`; it does not follow a link."""
    return os.open(file, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)


def private_new(file: str, _flags: int) -> int:
    """Create a file for writing. This is an opener for `open`; it fails if the file exists."""
    return os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)


def write_new(path: str, content: bytes) -> None:
    """Write a file, unless there is one."""
    try:
        descriptor = private_new(path, os.O_WRONLY)
    except FileExistsError:
        return
    try:
        os.write(descriptor, content)
    finally:
        os.close(descriptor)


# Short-lived programs import this module, so it imports little.


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
