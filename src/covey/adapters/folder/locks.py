"""Locks of a shared folder: the lock file that foreign programs honour, and the turn of our own processes.

The process that creates the lock file holds the lock; the file contains its process id. The turn admits one visitor at
a time among all threads and processes, with a record of the visitor's intent.
"""

import os
import re
import time
from collections.abc import Generator
from contextlib import contextmanager, suppress
from typing import Final
from zlib import crc32

from covey.core.errors import StoreBusy
from covey.disk.file_lock import FileLock
from covey.disk.lock_wait import take_within

STALE_S: Final = 30.0
"""The age at which a lock is stale: its holder hangs, or has ended without removing it."""
PATIENCE_S = 1.0
"""The timeout for a lock that another program holds."""
_LOOK_S: Final = 0.005
_PID: Final = re.compile(rb"[0-9]{1,19}")
_BROKEN: Final = ".broken"

LockMark = tuple[int, int]
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
        self._made: tuple[int, LockMark] | None = None
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

    def _take(self) -> LockMark | None:
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

    def _make(self) -> LockMark:
        mark = self._prepare()
        try:
            os.link(self._own, self._path)
        except FileExistsError:
            raise
        except OSError:  # a file system without links
            return _written(self._path)
        return mark

    def _prepare(self) -> LockMark:
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


def _mark(status: os.stat_result) -> LockMark:
    """Return the mark of a lock file."""
    return status.st_ino, status.st_mtime_ns


def _written(path: str) -> LockMark:
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    try:
        os.write(descriptor, b"%d\n" % os.getpid())
        return _mark(os.fstat(descriptor))
    finally:
        os.close(descriptor)


def _give_back(path: str, mark: LockMark) -> None:
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


_CHUNK: Final = 4096


class FolderTurn:
    """A held turn. Its intent record survives a visitor that is killed, and the next visitor finds the record. A record
    costs a single write, whereas a database would need several."""

    def __init__(self, lock: FileLock) -> None:
        self._lock = lock
        self._is_written = False

    def write(self, intent: bytes) -> None:
        """Record an intent, on one line, in place of the previous record."""
        self._is_written = True
        text = memoryview(b"%08x%s\n" % (crc32(intent), intent))
        place = 0
        while place < len(text):
            place += os.pwrite(self._lock.descriptor, text[place:], place)

    def read(self) -> bytes | None:
        """Return the recorded intent; None if it was cleared, or if its writer did not complete it."""
        if os.pread(self._lock.descriptor, 1, 0) in (b"", b"\n"):
            return None
        text = b""
        while b"\n" not in text and (chunk := os.pread(self._lock.descriptor, _CHUNK, len(text))):
            text += chunk
        line, end, _ = text.partition(b"\n")
        is_whole = bool(end) and line[:8] == b"%08x" % crc32(line[8:])
        self._is_written = True
        return line[8:] if is_whole else None

    def clear(self) -> None:
        """Clear the record, because the intent was carried out."""
        if self._is_written:
            os.pwrite(self._lock.descriptor, b"\n", 0)
            self._is_written = False

    def end(self) -> None:
        self._lock.close()


def take_turn(path: str, limit_s: float) -> FolderTurn:
    """Wait for the turn. Raise StoreBusy after `limit_s` seconds."""
    lock = take_within(lambda: FileLock(path, os.O_NOFOLLOW), limit_s)
    if lock is None:
        raise StoreBusy(path, limit_s)
    return FolderTurn(lock)
