"""Entries of a shared folder: checked reads, faults of entries, times of change, and errors of the disk."""

import errno
import os
import stat
import time
from collections.abc import Mapping
from enum import StrEnum
from typing import Final, NamedTuple

from covey.core.errors import StoreFull, StoreReadOnly, Unavailable
from covey.core.limits import MAX_PAPER_BYTES

_OPEN: Final = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


class EntryFault(StrEnum):
    """A reason to leave an entry of a folder unchanged."""

    CONTENT = "content"
    """The content is no message of this layout."""
    LINK = "link"
    SPECIAL = "special"
    """A pipe, a socket or a device."""
    LARGE = "large"
    UNREADABLE = "unreadable"
    STRAY = "stray"
    """The name is not that of a message, or a folder is in the place of a file."""
    NAME = "name"
    """The name is no text, or leads out of the folder."""
    HINDERED = "hindered"
    """A folder that can't be used."""


PROBLEMS: Final = {
    EntryFault.CONTENT: "it is no message",
    EntryFault.LINK: "it is a symbolic link",
    EntryFault.SPECIAL: "it is no regular file",
    EntryFault.LARGE: f"it is over {MAX_PAPER_BYTES:,} bytes",
    EntryFault.UNREADABLE: "it can't be read",
    EntryFault.STRAY: "it is a folder, or its name is not the name of a message",
    EntryFault.NAME: "its name can't be used",
    EntryFault.HINDERED: "it is no folder that can be written",
}


class FileContent(NamedTuple):
    """The content of a file, and its status at that time."""

    content: bytes
    status: os.stat_result


def read(path: str) -> FileContent | EntryFault | None:
    """Return the content of a file, or the fault that prevents reading; None if the file is gone. A link at `path` is
    not followed, and a pipe is not waited for."""
    try:
        descriptor = os.open(path, _OPEN)
    except FileNotFoundError:
        return None
    except OSError as error:
        if error.errno == errno.ELOOP:
            return EntryFault.LINK
        return EntryFault.SPECIAL if error.errno in (errno.ENXIO, errno.ENODEV) else EntryFault.UNREADABLE
    status = os.fstat(descriptor)
    if not stat.S_ISREG(status.st_mode):
        os.close(descriptor)
        return EntryFault.STRAY if stat.S_ISDIR(status.st_mode) else EntryFault.SPECIAL
    with open(descriptor, "rb") as file:
        if status.st_size > MAX_PAPER_BYTES:
            return EntryFault.LARGE
        try:
            content = file.read(MAX_PAPER_BYTES + 1)
        except OSError:
            return EntryFault.UNREADABLE
    return FileContent(content, status) if len(content) <= MAX_PAPER_BYTES else EntryFault.LARGE


def stamp_of(status: os.stat_result) -> str:
    """Return a stamp that changes with the content of a file, and stays when the file is moved."""
    return f"{status.st_ino}.{status.st_mtime_ns}.{status.st_size}"


def aside_stamp(status: os.stat_result) -> str:
    """Return a stamp that changes when an entry that was set aside should be checked again: also when its permissions
    change."""
    if stat.S_ISREG(status.st_mode):
        return f"{status.st_ino}.{status.st_ctime_ns}.{status.st_size}"
    return f"{status.st_ino}.{status.st_mode:o}"


def digest_of(content: bytes) -> str:
    """Return the SHA-256 of the content, in hex."""
    from hashlib import sha256  # imported late because it loads OpenSSL, and most looks find nothing new

    return sha256(content).hexdigest()


def shown(name: str) -> str:
    """Return a name as text that is safe to print on a terminal, also if the name is no text."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in name)


def is_text(name: str) -> bool:
    """Tell whether a name is UTF-8."""
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True


def is_file(path: str) -> bool:
    """Tell whether the path is a regular file, and no link to one."""
    try:
        return stat.S_ISREG(os.lstat(path).st_mode)
    except OSError:
        return False


def is_usable(root: str, folder: str, *, is_made: bool = True) -> bool:
    """Tell whether files can be written into a folder under the root, and no part of its path is a link. With
    `is_made=False`, a folder that is missing but can be made counts as usable too."""
    path = root
    for name in folder.split("/"):
        above, path = path, f"{path}/{name}"
        try:
            status = os.lstat(path)
        except FileNotFoundError:
            return not is_made and os.access(above, os.W_OK | os.X_OK)
        except OSError:
            return False
        if not stat.S_ISDIR(status.st_mode):
            return False
    return os.access(path, os.W_OK | os.X_OK)


def stands(root: str, folder: str) -> bool:
    """Tell whether the folder exists under the root, and no part of its path is a link."""
    path = root
    for name in folder.split("/"):
        path = f"{path}/{name}"
        try:
            if not stat.S_ISDIR(os.lstat(path).st_mode):
                return False
        except OSError:
            return False
    return True


UNSEEN: Final = 0
"""The time in the mark of a folder that has to be listed in any case."""
ABSENT: Final = -1
UNUSABLE: Final = -2
"""The path is a link or no folder, or can't be examined."""

RACY_NS: Final = 50_000_000
"""The time after which a recently changed folder is listed again. Kernels count time in steps of up to 10 ms. So a
folder that changed shortly before a look may change once more without getting a new time."""


class FolderMark(NamedTuple):
    """The state of a folder at the end of the last look or our last change."""

    mtime: int
    """The time of the folder's last change, in nanoseconds, or `UNSEEN`, `ABSENT` or `UNUSABLE`."""
    racy_since: int = 0
    """The start of the time in which the folder may have changed without a new mtime; 0 if that is impossible."""


def time_of(path: str) -> int:
    """Return the time of a folder's last change, in nanoseconds, or `ABSENT` or `UNUSABLE`."""
    try:
        status = os.lstat(path)
    except FileNotFoundError:
        return ABSENT
    except OSError:
        return UNUSABLE
    # Without the `stat` module: its function costs more than the comparison.
    return status.st_mtime_ns if status.st_mode & 0o170000 == 0o040000 else UNUSABLE


def mark_of(changed_ns: int, looked_ns: int) -> FolderMark:
    """Return the mark of a folder that was listed: its time of change, and the time when the look began."""
    is_racy = changed_ns >= 0 and looked_ns - changed_ns <= RACY_NS
    return FolderMark(changed_ns, changed_ns if is_racy else 0)


def mark_after(before: FolderMark, changed_ns: int) -> FolderMark:
    """Return the mark of a folder that was unchanged before our own change. The mark is racy: the folder is listed once
    more, which finds changes by other programs at the same moment."""
    return FolderMark(changed_ns, before.racy_since or changed_ns)


def is_left(mark: FolderMark, changed_ns: int, at_ns: int) -> bool:
    """Tell whether a folder with this time of change is unchanged since its mark."""
    if mark.mtime != changed_ns or changed_ns == UNSEEN:
        return False
    # A time in the future counts as a change too.
    return mark.racy_since == 0 or 0 <= at_ns - mark.racy_since <= RACY_NS


def are_left(root: str, marks: Mapping[str, FolderMark]) -> bool:
    """Tell whether all the folders are unchanged since their marks."""
    now = now_ns()
    return all(is_left(mark, time_of(f"{root}/{folder}" if folder else root), now) for folder, mark in marks.items())


def now_ns() -> int:
    """Return the present time on the clock that the kernel uses for changes of files."""
    return time.time_ns()


_NO_ROOM: Final = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
_NO_RIGHT: Final = (errno.EROFS, errno.EACCES, errno.EPERM)


class explained:  # noqa: N801 - used like a function; a generator-based context manager would cost several times as much
    """A context that raises an OSError as StoreFull, StoreReadOnly or Unavailable for `path`."""

    __slots__ = ("_path",)

    def __init__(self, path: str) -> None:
        self._path = path

    def __enter__(self) -> None:
        return

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if not isinstance(error, OSError):
            return
        reason = error.strerror or str(error)
        if error.errno in _NO_ROOM:
            raise StoreFull(self._path) from error
        if error.errno in _NO_RIGHT:
            raise StoreReadOnly(self._path, reason) from error
        raise Unavailable(f"{self._path} can't be used: {reason}", path=self._path, reason=reason) from error
