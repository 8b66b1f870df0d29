"""The turnstile: writers of all processes pass one at a time.

SQLite lets those who wait for its write lock sleep and try again, and whoever tries at the right moment wins: under
load one process gets thousands of turns while another gets one. A lock of the kernel wakes the next in line.
"""

import fcntl
import os

from covey.adapters.sqlite.files import lock_file
from covey.adapters.sqlite.trouble import raise_explained
from covey.core.errors import StoreBusy
from covey.disk.lining_up import wait_in_line


class Turnstile:
    """A lock on a file beside the database at `path`. For one thread at a time."""

    def __init__(self, path: str) -> None:
        self._path = path
        try:
            self._descriptor = lock_file(f"{path}-turn")
        except OSError as error:
            raise_explained(path, error)

    def enter_at_once(self) -> bool:
        """Take the turn if nobody has it; tell whether it is ours."""
        try:
            fcntl.flock(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True

    def enter(self, limit_s: float | None) -> None:
        """Wait for the turn, for `limit_s` seconds where it is given; then StoreBusy."""
        if self.enter_at_once():
            return
        if limit_s is None:
            fcntl.flock(self._descriptor, fcntl.LOCK_EX)
        else:
            self._wait(limit_s)

    def leave(self) -> None:
        """Let the next one pass."""
        fcntl.flock(self._descriptor, fcntl.LOCK_UN)

    def close(self) -> None:
        os.close(self._descriptor)

    def _wait(self, limit_s: float) -> None:
        descriptor = wait_in_line(lambda: lock_file(f"{self._path}-turn"), limit_s)
        if descriptor is None:
            raise StoreBusy(self._path, limit_s)
        os.close(self._descriptor)
        self._descriptor = descriptor
