"""The turnstile: writers of all processes pass one at a time.

SQLite lets those who wait for its write lock sleep and try again, and whoever tries at the right moment wins: under
load one process gets thousands of turns while another gets one. A lock of the kernel wakes the next in line.
"""

from covey.adapters.sqlite.engine.trouble import raise_explained
from covey.core.errors import StoreBusy
from covey.disk.file_lock import FileLock
from covey.disk.lining_up import wait_in_line


class WriterLock:
    """A lock on a file beside the database at `path`. For one thread at a time."""

    def __init__(self, path: str) -> None:
        self._path = path
        try:
            self._lock = FileLock(f"{path}-turn")
        except OSError as error:
            raise_explained(path, error)

    def enter_at_once(self) -> bool:
        """Take the turn if nobody has it; tell whether it is ours."""
        return self._lock.take_at_once()

    def enter(self, limit_s: float | None) -> None:
        """Wait for the turn, for `limit_s` seconds where it is given; then StoreBusy."""
        if self.enter_at_once():
            return
        if limit_s is None:
            self._lock.take()
        else:
            self._wait(limit_s)

    def leave(self) -> None:
        """Let the next one pass."""
        self._lock.give_back()

    def close(self) -> None:
        self._lock.close()

    def _wait(self, limit_s: float) -> None:
        lock = wait_in_line(lambda: FileLock(f"{self._path}-turn"), limit_s)
        if lock is None:
            raise StoreBusy(self._path, limit_s)
        self._lock.close()
        self._lock = lock
