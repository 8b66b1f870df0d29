"""What the kernel tells of changes in folders, on Linux: inotify, which Python's library does not have."""

import ctypes
import errno
import os
import struct
import sys
from collections.abc import Iterable
from functools import cache
from typing import Final, NamedTuple

_CLOSE_WRITE: Final = 0x8
_MOVED_FROM: Final = 0x40
_MOVED_TO: Final = 0x80
_CREATE: Final = 0x100
_DELETE: Final = 0x200
_DELETE_SELF: Final = 0x400
_MOVE_SELF: Final = 0x800
_OVERFLOW: Final = 0x4000
_IGNORED: Final = 0x8000
_ONLY_FOLDERS: Final = 0x01000000
_NO_LINKS: Final = 0x02000000
_IS_FOLDER: Final = 0x40000000

_MASK: Final = (
    _CLOSE_WRITE | _MOVED_FROM | _MOVED_TO | _CREATE | _DELETE | _DELETE_SELF | _MOVE_SELF | _ONLY_FOLDERS | _NO_LINKS
)
_FOLDERS_MOVED: Final = _DELETE_SELF | _MOVE_SELF | _OVERFLOW | _IGNORED | _IS_FOLDER
_HEAD: Final = struct.Struct("iIII")
_ROOM: Final = 64 * 1024
_GONE: Final = (errno.ENOENT, errno.ENOTDIR, errno.EACCES, errno.ELOOP)


class News(NamedTuple):
    is_change: bool
    """Something has happened that may concern a message."""
    is_rebuilt: bool
    """Folders have come or gone: what is watched has to be said anew."""


class Inotify:
    """Raises OSError where the kernel has none to give: no such thing, or too many in use."""

    def __init__(self) -> None:
        if not sys.platform.startswith("linux"):
            raise OSError(errno.ENOSYS, "no inotify here")
        self.descriptor = _checked(_library().inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC))

    def watch(self, folders: Iterable[str]) -> None:
        """Watch folders too; those that are watched already stay so, those that are not there are left out."""
        for folder in folders:
            try:
                _checked(_library().inotify_add_watch(self.descriptor, os.fsencode(folder), _MASK))
            except OSError as error:
                if error.errno not in _GONE:
                    raise

    def read(self) -> News:
        """Return what has happened since the last time. What hidden files do, such as temporary ones, is nothing."""
        is_change = is_rebuilt = False
        while True:
            try:
                events = os.read(self.descriptor, _ROOM)
            except BlockingIOError:
                return News(is_change, is_rebuilt)
            place = 0
            while place < len(events):
                _, mask, _, length = _HEAD.unpack_from(events, place)
                name = events[place + _HEAD.size : place + _HEAD.size + length]
                place += _HEAD.size + length
                if not name.startswith(b"."):
                    is_change = True
                    is_rebuilt = is_rebuilt or bool(mask & _FOLDERS_MOVED)

    def close(self) -> None:
        os.close(self.descriptor)


@cache
def _library() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)


def _checked(result: int) -> int:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    return result
