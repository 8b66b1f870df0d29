"""The locks of this process: one for each folder, shared by all its users.

They are POSIX record locks. The kernel drops them when the process dies, and a forked child does not inherit them. They
have a trap: closing *any* descriptor of a file drops the process's lock on the file. So a lock belongs to the process
and not to an object, and only this module opens its file. Code that is about to open one of these files another way
must ask `is_own` first.
"""

import fcntl
import os
import time
from _thread import allocate_lock
from typing import Final

SUFFIX: Final = ".lock"
_UNFINISHED: Final = ".new"
_UNFINISHED_AGE_S: Final = 3600.0

_held: dict[str, "_HeldLock"] = {}
_guard = allocate_lock()


class _HeldLock:
    """A lock of the process `pid`. A forked child sees from the pid that the lock is not its own."""

    __slots__ = ("descriptor", "inode", "name", "pid", "users")

    def __init__(self, name: str, descriptor: int) -> None:
        status = os.fstat(descriptor)
        self.name = name
        self.descriptor = descriptor
        self.inode = (status.st_dev, status.st_ino)
        self.pid = os.getpid()
        self.users: set[object] = set()


def take(folder: str, user: object) -> str:
    """Lock a file in the folder, unless this process has a lock there. Add the user to the lock, and return its name. A
    lock whose file was removed is replaced, because other processes can no longer see it."""
    with _guard:
        held = _held.get(folder)
        if held is None or held.pid != os.getpid():
            held = _held[folder] = _make(folder)
        elif not _is_there(folder, held):
            lost, held = held, _make(folder)
            held.users |= lost.users
            _held[folder] = held
            os.close(lost.descriptor)
        held.users.add(user)
        return held.name


def drop(folder: str, user: object) -> None:
    """Remove a user of the lock. Release the lock when it has no users left."""
    with _guard:
        held = _held.get(folder)
        if held is None or held.pid != os.getpid():
            return
        held.users.discard(user)
        if not held.users:
            del _held[folder]
            remove(f"{folder}/{held.name}{SUFFIX}")
            os.close(held.descriptor)


def own_name(folder: str) -> str | None:
    """Return the name of the lock that this process holds in the folder."""
    held = _held.get(folder)
    return None if held is None or held.pid != os.getpid() else held.name


def is_own(path: str) -> bool:
    """Tell whether this process has locked the file, whatever path names it. The file is not opened."""
    status = os.stat(path)
    inode = (status.st_dev, status.st_ino)
    pid = os.getpid()
    with _guard:
        return any(held.inode == inode and held.pid == pid for held in _held.values())


def remove(path: str) -> None:
    """Remove a file, if there is one and it can be removed."""
    try:
        os.unlink(path)
    except OSError:
        return


def _is_there(folder: str, held: _HeldLock) -> bool:
    try:
        status = os.stat(f"{folder}/{held.name}{SUFFIX}")
    except OSError:
        return False
    return (status.st_dev, status.st_ino) == held.inode


def _make(folder: str) -> _HeldLock:
    os.makedirs(folder, mode=0o700, exist_ok=True)
    _sweep_unfinished(folder)
    while True:
        name = os.urandom(16).hex()
        path = f"{folder}/{name}{_UNFINISHED}"
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        try:
            fcntl.lockf(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            held = _HeldLock(name, descriptor)
            # The file is locked before it gets its final name. So an unlocked file under a final name belongs to a dead
            # process and may be removed.
            os.rename(path, f"{folder}/{name}{SUFFIX}")
        except FileNotFoundError:
            os.close(descriptor)  # another process swept the file: this process was stopped here for an hour
        except BaseException:
            remove(path)
            os.close(descriptor)
            raise
        else:
            return held


def _sweep_unfinished(folder: str) -> None:
    oldest = time.time() - _UNFINISHED_AGE_S
    for name in os.listdir(folder):
        if name.endswith(_UNFINISHED):
            path = f"{folder}/{name}"
            try:
                if os.stat(path).st_mtime < oldest:
                    os.unlink(path)
            except FileNotFoundError:
                continue


def _forget_the_parents_locks() -> None:
    global _guard
    _guard = allocate_lock()  # another thread of the parent may have held the guard
    for held in _held.values():
        os.close(held.descriptor)  # drops no lock: the locks belong to the parent
    _held.clear()


os.register_at_fork(after_in_child=_forget_the_parents_locks)
