"""The lock file that foreign programs honour: the process that creates it holds the lock. It contains the process
id."""

import os
import re
import time
from collections.abc import Generator
from contextlib import contextmanager, suppress
from typing import Final

STALE_S: Final = 30.0
"""The age at which a lock is stale: its holder hangs, or has ended without removing it."""
PATIENCE_S = 1.0
"""The timeout for a lock that another program holds."""
_LOOK_S: Final = 0.005
_PID: Final = re.compile(rb"[0-9]{1,19}")
_BROKEN: Final = ".broken"

Mark = tuple[int, int]
"""Inode and time of a lock file, which tell a lock from a later one."""


class LockFile:
    """The lock at a path. Only one of our own processes may try to take the lock at a time. So an existing lock is
    never one of ours that is in use."""

    def __init__(self, path: str, own: str) -> None:
        """`own` is a private path on the same file system. The file at `own` becomes the lock by a hard link, so that
        the lock contains our process id from the first moment on, and a killed process never leaves a lock without an
        id. The file at `own` stays for the next time."""
        self._path = path
        self._own = own
        self._made: tuple[int, Mark] | None = None
        """The id of the process that made the file at `own`, and the mark of that file."""

    @contextmanager
    def held(self) -> Generator[bool]:
        """Hold the lock, and yield True; yield False if another program holds it for too long. A stale lock is
        broken."""
        mark = self._take()
        try:
            yield mark is not None
        finally:
            if mark is not None:
                _give_back(self._path, mark)

    def _take(self) -> Mark | None:
        ends_at: float | None = None
        while True:
            try:
                return self._make()
            except FileExistsError:
                if break_stale(self._path, self._own):
                    continue
                now = time.monotonic()
                ends_at = ends_at or now + PATIENCE_S
                if now > ends_at:
                    return None
                time.sleep(_LOOK_S)

    def _make(self) -> Mark:
        mark = self._prepare()
        try:
            os.link(self._own, self._path)
        except FileExistsError:
            raise
        except OSError:  # a file system without links
            return _written(self._path)
        return mark

    def _prepare(self) -> Mark:
        """Give our own file the present time and the id of this process, and return its mark."""
        pid = os.getpid()
        with suppress(OSError):
            if self._made is not None and self._made == (pid, _mark(os.lstat(self._own))):
                now = time.time_ns()
                os.utime(self._own, ns=(now, now))
                self._made = pid, _mark(os.lstat(self._own))
                return self._made[1]
        with suppress(FileNotFoundError):
            os.unlink(self._own)
        self._made = pid, _written(self._own)
        return self._made[1]


def is_stale(path: str) -> bool:
    """Tell whether there is a stale lock: its process is gone, or the lock is too old."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        status = os.fstat(descriptor)
        pid = _PID.search(os.read(descriptor, 4096))
    except OSError:
        return False
    finally:
        os.close(descriptor)
    if abs(time.time() - status.st_ctime) > STALE_S:
        return True
    return pid is not None and _is_gone(int(pid[0]))


def break_stale(path: str, own: str) -> bool:
    """Remove the lock if it is stale, and tell whether it was removed."""
    try:
        judged = _mark(os.lstat(path))
        if not is_stale(path):
            return False
        # Renamed, the lock can be checked once more: since the first check another program may have broken it and
        # made a new one.
        aside = f"{own}{_BROKEN}"
        os.rename(path, aside)
        is_right = _mark(os.lstat(aside)) == judged
        if not is_right:
            with suppress(OSError):
                os.link(aside, path)  # restore it, unless there is a newer lock
        os.unlink(aside)
    except OSError:
        return False
    return is_right


def _mark(status: os.stat_result) -> Mark:
    """Return the mark of a lock file."""
    return status.st_ino, status.st_mtime_ns


def _written(path: str) -> Mark:
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    try:
        os.write(descriptor, b"%d\n" % os.getpid())
        return _mark(os.fstat(descriptor))
    finally:
        os.close(descriptor)


def _give_back(path: str, mark: Mark) -> None:
    with suppress(OSError):
        if _mark(os.lstat(path)) == mark:
            os.unlink(path)


def _is_gone(pid: int) -> bool:
    """Tell whether no process with this id runs. If the id is our own, an earlier process had it: this process holds no
    lock now."""
    if pid in (0, os.getpid()):
        return True
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    except (PermissionError, OverflowError):
        return False
    return False
