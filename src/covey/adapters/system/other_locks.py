"""Whether the locks of other processes are held."""

import errno
import fcntl
import os
import re
import struct
import sys
from _thread import allocate_lock
from typing import Final

from covey.adapters.system import own_locks
from covey.core.errors import Unavailable

_NAME: Final = re.compile(r"[0-9a-f]{32}")
_MOST_DESCRIPTORS: Final = 128
"""Kept open for the next question. What is over it is opened anew each time, so that a process with few descriptors
to spare can look at any number of sessions."""
_MOST_SWEPT: Final = 32

# struct flock: what a question holds, and where the answer's type stands in it.
if sys.platform == "darwin":
    _QUESTION: Final = struct.pack("qqihh", 0, 0, 0, fcntl.F_WRLCK, os.SEEK_SET)
    _TYPE_AT: Final = slice(20, 22)
else:
    _QUESTION: Final = struct.pack("hhqqi", fcntl.F_WRLCK, os.SEEK_SET, 0, 0, 0)
    _TYPE_AT: Final = slice(0, 2)
_UNLOCKED: Final = struct.pack("h", fcntl.F_UNLCK)


class PresenceUnknown(Unavailable):
    """A lock can't be looked at. Neither answer would be safe: one ends a live session, the other keeps a dead one."""

    code = "presence-unknown"
    advice = "Check the rights on the space's folder and the limit of open files; then try again."

    def __init__(self, path: str, reason: str) -> None:
        super().__init__(f"can't tell whether {path} is held: {reason}", path=path, reason=reason)


class OtherLocks:
    """The lock files in one folder, with a descriptor kept for those that are held. Safe for several threads."""

    def __init__(self, folder: str) -> None:
        self._folder = folder
        self._descriptors: dict[str, int] = {}
        self._guard = allocate_lock()
        self._pid = os.getpid()

    def is_held(self, name: str) -> bool:
        """Tell whether some process holds the lock. One that is not held has no future, and its file is removed."""
        if own_locks.own_name(self._folder) == name:
            return True
        if self._pid != os.getpid():
            self._start_over()
        with self._guard:
            descriptor = self._descriptors.get(name)
            if descriptor is not None:
                if _is_locked(descriptor):
                    return True
                del self._descriptors[name]
                os.close(descriptor)
                own_locks.remove(self._path(name))
                return False
            return self._look(name)

    def sweep(self, after: str) -> None:
        """Remove files of dead processes, a few at a time: the next ones after a random name, and after the last the
        first, so that each has its turn."""
        names = [file.removesuffix(own_locks.SUFFIX) for file in os.listdir(self._folder)]
        for name in sorted(names, key=lambda name: (name <= after, name))[:_MOST_SWEPT]:
            self.is_held(name)

    def forget(self) -> None:
        """Close what was kept open."""
        with self._guard:
            self._close_all()

    def _look(self, name: str) -> bool:
        # Names come from the store, hence from outside: nothing but our own form becomes a path.
        if not _NAME.fullmatch(name):
            return False
        path = self._path(name)
        try:
            if own_locks.is_own(path):
                return True
            descriptor = self._open(path)
        except (FileNotFoundError, NotADirectoryError):
            return False
        except OSError as error:
            if error.errno == errno.ELOOP:
                return False  # a symbolic link: not one of our files
            raise PresenceUnknown(path, error.strerror or str(error)) from error
        held = _is_locked(descriptor)
        if held and len(self._descriptors) < _MOST_DESCRIPTORS:
            self._descriptors[name] = descriptor
            return True
        os.close(descriptor)
        if not held:
            own_locks.remove(path)
        return held

    def _open(self, path: str) -> int:
        flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
        try:
            return os.open(path, flags)
        except OSError as error:
            if error.errno not in (errno.EMFILE, errno.ENFILE) or not self._descriptors:
                raise
            self._close_all()
            return os.open(path, flags)

    def _path(self, name: str) -> str:
        return f"{self._folder}/{name}{own_locks.SUFFIX}"

    def _close_all(self) -> None:
        while self._descriptors:
            os.close(self._descriptors.popitem()[1])

    def _start_over(self) -> None:
        """Begin again in a forked child: another thread of the parent may have been in the middle of something."""
        self._guard = allocate_lock()
        self._pid = os.getpid()


def _is_locked(descriptor: int) -> bool:
    return fcntl.fcntl(descriptor, fcntl.F_GETLK, _QUESTION)[_TYPE_AT] != _UNLOCKED
