"""Checks of the entries of a folder: files to read, and faults of entries that are left unchanged."""

import errno
import os
import stat
from enum import StrEnum
from typing import Final, NamedTuple

from covey.core.limits import MAX_PAPER_BYTES

_OPEN: Final = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


class Fault(StrEnum):
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
    Fault.CONTENT: "it is no message",
    Fault.LINK: "it is a symbolic link",
    Fault.SPECIAL: "it is no regular file",
    Fault.LARGE: f"it is over {MAX_PAPER_BYTES:,} bytes",
    Fault.UNREADABLE: "it can't be read",
    Fault.STRAY: "it is not where or what a message is",
    Fault.NAME: "its name can't be used",
    Fault.HINDERED: "it is no folder that can be written",
}


class Content(NamedTuple):
    """The content of a file, and its status at that time."""

    content: bytes
    status: os.stat_result


def read(path: str) -> Content | Fault | None:
    """Return the content of a file, or the fault that prevents reading; None if the file is gone. A link at `path` is
    not followed, and a pipe is not waited for."""
    try:
        descriptor = os.open(path, _OPEN)
    except FileNotFoundError:
        return None
    except OSError as error:
        if error.errno == errno.ELOOP:
            return Fault.LINK
        return Fault.SPECIAL if error.errno in (errno.ENXIO, errno.ENODEV) else Fault.UNREADABLE
    status = os.fstat(descriptor)
    if not stat.S_ISREG(status.st_mode):
        os.close(descriptor)
        return Fault.STRAY if stat.S_ISDIR(status.st_mode) else Fault.SPECIAL
    with open(descriptor, "rb") as file:
        if status.st_size > MAX_PAPER_BYTES:
            return Fault.LARGE
        try:
            content = file.read(MAX_PAPER_BYTES + 1)
        except OSError:
            return Fault.UNREADABLE
    return Content(content, status) if len(content) <= MAX_PAPER_BYTES else Fault.LARGE


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
    from hashlib import sha256  # here because it loads OpenSSL, and most looks find nothing new

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
