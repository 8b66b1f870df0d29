"""A kernel lock on a file (flock) that belongs to one process and never to its children.

The kernel ties such a lock to the open file, which a forked child shares with its parent: the child of a killed process
would keep the lock. So this module registers every lock of the process, and a forked child closes its copies before any
of its own code runs. Closing a copy does not unlock the file. Unlocking a copy would: a child can't do that, because
its `FileLock` has no descriptor any more.

Programs that are executed inherit nothing, because the descriptors are close-on-exec.
"""

# Short-lived programs import this module, so it imports little.

import fcntl
import os
from _thread import RLock
from typing import Final

_FLAGS: Final = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC
_PRIVATE: Final = 0o600
_CLOSED: Final = -1

_open: set["FileLock"] = set()
_guard = RLock()
"""Held while a descriptor is opened or closed, and while the process forks, so that `_open` and the kernel agree."""


class FileLock:
    """An open file that can be locked. Each object excludes every other one, in this process and in others.

    All methods may raise OSError, and ValueError if the file is closed. In a forked child, every inherited lock is
    closed.
    """

    __slots__ = ("descriptor",)

    def __init__(self, path: str, flags: int = 0) -> None:
        """Open the file. If it is missing, create it for its owner alone. `flags` are added to those of `open`."""
        with _guard:
            self.descriptor = os.open(path, _FLAGS | flags, _PRIVATE)
            _open.add(self)

    def take(self, *, shared: bool = False) -> None:
        """Wait for the lock. The wait can't be interrupted."""
        fcntl.flock(self.descriptor, fcntl.LOCK_SH if shared else fcntl.LOCK_EX)

    def take_at_once(self) -> bool:
        """Take the lock if it is free; tell whether it was taken."""
        try:
            fcntl.flock(self.descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True

    def give_back(self) -> None:
        """Unlock the file and keep it open."""
        fcntl.flock(self.descriptor, fcntl.LOCK_UN)

    def close(self) -> None:
        """Unlock and close the file. Closing twice does nothing."""
        with _guard:
            if self.descriptor != _CLOSED:
                os.close(self.descriptor)
                self.descriptor = _CLOSED
                _open.discard(self)


def _before_fork() -> None:
    _guard.acquire()


def _after_fork_in_parent() -> None:
    _guard.release()


def _after_fork_in_child() -> None:
    global _guard
    _guard = RLock()
    for lock in _open:
        os.close(lock.descriptor)
        lock.descriptor = _CLOSED
    _open.clear()


os.register_at_fork(before=_before_fork, after_in_parent=_after_fork_in_parent, after_in_child=_after_fork_in_child)
