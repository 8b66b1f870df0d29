"""The writer lock: one writer at a time, across all processes.

A process that waits for SQLite's write lock sleeps and tries again, and the process that tries at the right moment
wins. Under load one process gets the lock thousands of times while another gets it once. A kernel lock wakes the next
process in the queue.
"""

from covey.adapters.sqlite.engine.files import raise_explained
from covey.core.errors import StoreBusy
from covey.disk.file_lock import FileLock
from covey.disk.lock_wait import wait_in_line


class WriterLock:
    """A lock on a file beside the database at `path`. For one thread at a time."""

    def __init__(self, path: str) -> None:
        self._path = path
        try:
            self._lock = FileLock(f"{path}-turn")
        except OSError as error:
            raise_explained(path, error)

    def enter_at_once(self) -> bool:
        """Take the lock if it is free; tell whether this process has the lock now."""
        return self._lock.take_at_once()

    def enter(self, limit_s: float | None) -> None:
        """Wait for the lock, for at most `limit_s` seconds if given; then raise StoreBusy."""
        if self.enter_at_once():
            return
        if limit_s is None:
            self._lock.take()
        else:
            self._wait(limit_s)

    def leave(self) -> None:
        """Release the lock for the next process."""
        self._lock.give_back()

    def close(self) -> None:
        self._lock.close()

    def _wait(self, limit_s: float) -> None:
        lock = wait_in_line(lambda: FileLock(f"{self._path}-turn"), limit_s)
        if lock is None:
            raise StoreBusy(self._path, limit_s)
        self._lock.close()
        self._lock = lock
