"""The lock file that foreign programs honour: whoever makes it has the lock, with its process id in it."""

import os
import re
import time
from collections.abc import Generator
from contextlib import contextmanager, suppress
from typing import Final

STALE_S: Final = 30.0
"""Nobody holds it that long: who made it is stuck, or gone without a trace."""
PATIENCE_S = 1.0
"""How long somebody else's lock is waited for."""
_LOOK_S: Final = 0.005
_PID: Final = re.compile(rb"[0-9]{1,19}")
_BROKEN: Final = ".broken"

Mark = tuple[int, int]
"""What tells a lock from a later one."""


class LockFile:
    """The lock at a path. Only one of our own processes may try at a time: what it finds is never a lock of ours that
    is in use."""

    def __init__(self, path: str, own: str) -> None:
        """`own` is a path on the same file system that is ours alone. What stands there becomes the lock by a second
        name, so that it has our process id in it from the first moment on, and whoever is killed leaves none without
        one. It stays for the next time."""
        self._path = path
        self._own = own
        self._made: tuple[int, Mark] | None = None
        """By which process it was made, and how it was left."""

    @contextmanager
    def held(self) -> Generator[bool]:
        """Hold the lock; False where somebody else holds it for too long. A stale one is broken."""
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
        """Let our own file say that it was made now, by this process."""
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
    """Tell whether there is a lock that nobody holds any more: its process is gone, or it is too old."""
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
    """Take a stale lock away; tell whether that was done."""
    try:
        judged = _mark(os.lstat(path))
        if not is_stale(path):
            return False
        # Under a name of its own it can be looked at once more: between the judgement and this, somebody else may have
        # broken it and made a new one.
        aside = f"{own}{_BROKEN}"
        os.rename(path, aside)
        is_right = _mark(os.lstat(aside)) == judged
        if not is_right:
            with suppress(OSError):
                os.link(aside, path)  # and back, unless there is yet another
        os.unlink(aside)
    except OSError:
        return False
    return is_right


def _mark(status: os.stat_result) -> Mark:
    """Return what tells a lock from a later one."""
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
    """Tell whether no such process runs. One with our own id was another one: this process has no lock now."""
    if pid in (0, os.getpid()):
        return True
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    except (PermissionError, OverflowError):
        return False
    return False
