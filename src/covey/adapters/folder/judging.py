"""Judging what lies in a folder: a file to read, or something to leave as it is, and why."""

import errno
import os
import stat
from enum import StrEnum
from typing import Final, NamedTuple

from covey.core.limits import MAX_PAPER_BYTES

_OPEN: Final = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


class Fault(StrEnum):
    """Why something is left as it is."""

    CONTENT = "content"
    """It is no message of this layout."""
    LINK = "link"
    SPECIAL = "special"
    """A pipe, a socket or a device."""
    LARGE = "large"
    UNREADABLE = "unreadable"
    STRAY = "stray"
    """By its name no message, or a folder where there should be none."""
    NAME = "name"
    """Its name is no text, or leads elsewhere."""
    HINDERED = "hindered"
    """The folder of an agent that can't be used."""


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
    """What a file holds, and what tells this state of it from others."""

    content: bytes
    status: os.stat_result


def read(path: str) -> Content | Fault | None:
    """Return what a file holds, or why it is not to be read; None where it is gone. Nothing is followed, and nothing
    waited for."""
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
    """Return what changes with the content of a file, and stays when it is moved."""
    return f"{status.st_ino}.{status.st_mtime_ns}.{status.st_size}"


def aside_stamp(status: os.stat_result) -> str:
    """Return what changes when something that was set aside may be worth another look: also when its rights do."""
    if stat.S_ISREG(status.st_mode):
        return f"{status.st_ino}.{status.st_ctime_ns}.{status.st_size}"
    return f"{status.st_ino}.{status.st_mode:o}"


def digest_of(content: bytes) -> str:
    """Return the SHA-256 of a content, in hex."""
    from hashlib import sha256  # here because it brings OpenSSL, and most looks find nothing new

    return sha256(content).hexdigest()


def shown(name: str) -> str:
    """Return a name as text that does nothing to a terminal, also where it is none."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in name)


def is_text(name: str) -> bool:
    """Tell whether a name is UTF-8."""
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True


def is_file(path: str) -> bool:
    """Tell whether there is a regular file, and no link to one."""
    try:
        return stat.S_ISREG(os.lstat(path).st_mode)
    except OSError:
        return False


def is_usable(root: str, folder: str, *, is_made: bool = True) -> bool:
    """Tell whether files can be written into a folder under the root, or it can be made: no step to it is a link."""
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
    """Tell whether there is such a folder under the root, and no step to it is a link."""
    path = root
    for name in folder.split("/"):
        path = f"{path}/{name}"
        try:
            if not stat.S_ISDIR(os.lstat(path).st_mode):
                return False
        except OSError:
            return False
    return True
