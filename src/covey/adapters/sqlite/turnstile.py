"""The turnstile: writers of all processes pass one at a time.

SQLite lets those who wait for its write lock sleep and try again, and whoever tries at the right moment wins: under
load one process gets thousands of turns while another gets one. A lock of the kernel wakes the next in line.
"""

import fcntl
import os
from _thread import allocate_lock, start_new_thread  # threading would cost a short-lived process a millisecond

from covey.adapters.sqlite.files import lock_file
from covey.adapters.sqlite.trouble import raise_explained
from covey.core.errors import StoreBusy


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
        """Wait on another thread, because nothing can interrupt a thread that waits for a lock.

        That thread has a descriptor of its own: if it comes too late it gives the lock back without touching ours.
        """
        descriptor = lock_file(f"{self._path}-turn")
        decision, done = allocate_lock(), allocate_lock()
        done.acquire()
        given_up = passed = False

        def wait() -> None:
            nonlocal passed
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            with decision:
                passed = not given_up
            if given_up:
                os.close(descriptor)
            done.release()

        start_new_thread(wait, ())
        try:
            done.acquire(timeout=limit_s)
        finally:
            with decision:
                given_up = not passed
        if given_up:
            raise StoreBusy(self._path, limit_s)
        os.close(self._descriptor)
        self._descriptor = descriptor
