"""Liveness on one machine: locks that the kernel drops with their process, and processes by id and start time."""

import errno
import fcntl
import os
import re
import struct
import sys
from _thread import allocate_lock
from collections.abc import Sequence
from typing import Final, NamedTuple

from covey.adapters.system import process_locks
from covey.core.directory.session import Ancestor, Holder
from covey.core.errors import StoreFull, StoreReadOnly, Unavailable
from covey.core.store_url import LIVE_FOLDER

_STATE: Final = 0
_PARENT: Final = 1
_START: Final = 19
"""Indexes of the state, the parent and the start time (fields 3, 4 and 22) in /proc/<pid>/stat, after the name."""

_GONE: Final = ("Z", "X", "x")
"""States of a process that no longer runs. A zombie only waits for its parent to collect it."""

_boot: str | None = None


class ParentProcess(NamedTuple):
    """The process that started another one, with its name and the program that it runs."""

    pid: int
    name: str
    program: str = ""


def started(pid: int) -> str | None:
    """Return a text that is unique to the process among all processes with this id; None if no such process runs."""
    if pid <= 0:
        return None
    return started_by_ps(pid) if sys.platform == "darwin" else started_by_proc(pid)


def started_by_proc(pid: int) -> str | None:
    """Return the boot id, and the tick since the boot at which the process started."""
    _, fields = _stat(pid)
    if len(fields) <= _START or fields[_STATE] in _GONE:
        return None
    return f"{_boot_id()}/{fields[_START]}"


def _stat(pid: int) -> tuple[str, list[str]]:
    """Return the name of a process and its other fields in /proc/<pid>/stat; both are empty if the process is gone."""
    stat = _read(f"/proc/{pid}/stat") or ""
    # The name is in parentheses and may itself contain spaces and parentheses.
    return stat[stat.find("(") + 1 : stat.rfind(")")], stat[stat.rfind(")") + 1 :].split()


def started_by_ps(pid: int) -> str | None:
    """Return the start date of the process, on a system without /proc."""
    shown = _ps(pid, "stat", "lstart").split()
    if len(shown) < 2 or shown[0].startswith(_GONE):
        return None
    return " ".join(shown[1:])


def parent_of(pid: int) -> ParentProcess | None:
    """Return the parent of a process, or the process that adopted it; None if no parent is visible."""
    parent = parent_by_ps(pid) if sys.platform == "darwin" else parent_by_proc(pid)
    return None if parent is None or parent.pid <= 0 else parent


def parent_by_proc(pid: int) -> ParentProcess | None:
    """Return the parent from /proc: its name in up to 15 characters, and its program if this user may read the link."""
    _, fields = _stat(pid)
    if len(fields) <= _PARENT:
        return None
    parent = int(fields[_PARENT])
    try:
        program = os.path.basename(os.readlink(f"/proc/{parent}/exe"))
    except OSError:
        program = ""
    return ParentProcess(parent, _stat(parent)[0], program)


def parent_by_ps(pid: int) -> ParentProcess | None:
    """Return the parent from ps, on a system without /proc. The name is that of the program."""
    shown = _ps(pid, "ppid").strip()
    return ParentProcess(int(shown), os.path.basename(_ps(int(shown), "comm").strip())) if shown.isdecimal() else None


def _ps(pid: int, *columns: str) -> str:
    import subprocess  # imported late because the import is costly and only one platform needs it

    return subprocess.run(
        ["/bin/ps", *(word for column in columns for word in ("-o", f"{column}=")), "-p", str(pid)],
        env={"LC_ALL": "C", "TZ": "UTC"},  # dates must be the same text in every environment
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=10,
        check=False,
    ).stdout


def _boot_id() -> str:
    global _boot
    if _boot is None:
        _boot = (_read("/proc/sys/kernel/random/boot_id") or "").strip()
    return _boot


def _read(path: str) -> str | None:
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        return os.read(descriptor, 4096).decode("utf-8", "replace")
    except ProcessLookupError:
        return None
    finally:
        os.close(descriptor)


_NAME: Final = re.compile(r"[0-9a-f]{32}")
_MOST_DESCRIPTORS: Final = 128
"""Descriptors that stay open for the next check. Locks beyond this limit are opened again for each check, so that a
process with few free descriptors can check any number of sessions."""
_MOST_SWEPT: Final = 32

# struct flock: the query, and the place of the lock type in the answer.
if sys.platform == "darwin":
    _QUESTION: Final = struct.pack("qqihh", 0, 0, 0, fcntl.F_WRLCK, os.SEEK_SET)
    _TYPE_AT: Final = slice(20, 22)
else:
    _QUESTION: Final = struct.pack("hhqqi", fcntl.F_WRLCK, os.SEEK_SET, 0, 0, 0)
    _TYPE_AT: Final = slice(0, 2)
_UNLOCKED: Final = struct.pack("h", fcntl.F_UNLCK)


class PresenceUnknown(Unavailable):
    """A lock can't be checked. Neither answer would be safe: one ends a live session, the other keeps a dead one."""

    code = "presence-unknown"
    advice = "Check the rights on the space's folder and the limit of open files; then try again."

    def __init__(self, path: str, reason: str) -> None:
        super().__init__(f"can't tell whether {path} is held: {reason}", path=path, reason=reason)


class OtherLocks:
    """The lock files in one folder, with open descriptors for held locks. Safe for several threads."""

    def __init__(self, folder: str) -> None:
        self._folder = folder
        self._descriptors: dict[str, int] = {}
        self._guard = allocate_lock()
        self._pid = os.getpid()

    def is_held(self, name: str) -> bool:
        """Tell whether a process holds the lock. A free lock is never taken again, so its file is removed."""
        if process_locks.own_name(self._folder) == name:
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
                process_locks.remove(self._path(name))
                return False
            return self._look(name)

    def sweep(self, after: str) -> None:
        """Remove the files of dead processes, a few at a time: the next ones after a random name, then from the first
        name on, so that each file gets its turn."""
        names = [file.removesuffix(process_locks.SUFFIX) for file in os.listdir(self._folder)]
        for name in sorted(names, key=lambda name: (name <= after, name))[:_MOST_SWEPT]:
            self.is_held(name)

    def forget(self) -> None:
        """Close the open descriptors."""
        with self._guard:
            self._close_all()

    def _look(self, name: str) -> bool:
        # Names come from the store and are not trusted: only a name in the expected format becomes part of a path.
        if not _NAME.fullmatch(name):
            return False
        path = self._path(name)
        try:
            if process_locks.is_own(path):
                return True
            descriptor = self._open(path)
        except (FileNotFoundError, NotADirectoryError):
            return False
        except OSError as error:
            if error.errno == errno.ELOOP:
                return False  # a symbolic link is not one of Covey's files
            raise PresenceUnknown(path, error.strerror or str(error)) from error
        held = _is_locked(descriptor)
        if held and len(self._descriptors) < _MOST_DESCRIPTORS:
            self._descriptors[name] = descriptor
            return True
        os.close(descriptor)
        if not held:
            process_locks.remove(path)
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
        return f"{self._folder}/{name}{process_locks.SUFFIX}"

    def _close_all(self) -> None:
        while self._descriptors:
            os.close(self._descriptors.popitem()[1])

    def _start_over(self) -> None:
        """Reset the guard in a forked child: another thread of the parent may have held it during the fork."""
        self._guard = allocate_lock()
        self._pid = os.getpid()


def _is_locked(descriptor: int) -> bool:
    return fcntl.fcntl(descriptor, fcntl.F_GETLK, _QUESTION)[_TYPE_AT] != _UNLOCKED


class SystemLiveness:
    """`Liveness` of the processes that share a folder.

    All objects of one process with the same folder share one lock. The lock is released when the last object that holds
    it is closed. A forked child is its own process: it holds no lock until it calls `hold`.

    Only this package may open the files in `<folder>/live` in this process, even to copy them: closing a file drops its
    lock.
    """

    def __init__(self, folder: str) -> None:
        self._folder = f"{os.path.realpath(folder)}/{LIVE_FOLDER}"
        self._others = OtherLocks(self._folder)

    def hold(self) -> Holder:
        known = process_locks.own_name(self._folder)
        try:
            name = process_locks.take(self._folder, self)
        except OSError as error:
            raise _unavailable(error, self._folder) from error
        if name != known:
            self._others.sweep(name)
        return Holder(lock=name)

    def process(self, pid: int) -> Holder | None:
        start = started(pid)
        return None if start is None else Holder(pid=pid, started=start)

    def ancestors(self) -> Sequence[Ancestor]:
        found: list[Ancestor] = []
        pid = os.getpid()
        while (parent := parent_of(pid)) is not None and (holder := self.process(parent.pid)) is not None:
            found.append(Ancestor(holder, parent.name, parent.program))
            pid = parent.pid
        return found

    def is_held(self, holder: Holder) -> bool:
        if holder.lock is not None:
            return self._others.is_held(holder.lock)
        if holder.pid is None or holder.started is None:
            return False
        return started(holder.pid) == holder.started

    def close(self) -> None:
        process_locks.drop(self._folder, self)
        self._others.forget()


def _unavailable(error: OSError, path: str) -> Unavailable:
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return StoreFull(path)
    if error.errno in (errno.EROFS, errno.EACCES, errno.EPERM):
        return StoreReadOnly(path, error.strerror or str(error))
    return Unavailable(f"{path} can't be locked: {error.strerror}", path=path)
