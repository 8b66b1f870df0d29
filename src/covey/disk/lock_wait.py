"""Waiting for a file lock with a timeout."""

from _thread import allocate_lock, start_new_thread  # threading would cost a short-lived process a millisecond
from collections.abc import Callable

from covey.disk.file_lock import FileLock


def wait_in_line(open_file: Callable[[], FileLock], limit_s: float) -> FileLock | None:
    """Take a lock and return it; None if that takes longer than `limit_s` seconds.

    Another thread waits, because a wait for a lock can't be interrupted. The thread has an open file of its own: if it
    gets the lock too late, it releases the lock again, without an effect on other holders.
    """
    lock = open_file()
    decision, done = allocate_lock(), allocate_lock()
    done.acquire()
    is_given_up = is_ours = False

    def wait() -> None:
        nonlocal is_ours
        lock.take()
        with decision:
            is_ours = not is_given_up
        if is_given_up:
            lock.close()
        done.release()

    start_new_thread(wait, ())
    try:
        done.acquire(timeout=limit_s)
    finally:
        with decision:
            is_given_up = not is_ours
    return None if is_given_up else lock


def take_within(open_file: Callable[[], FileLock], limit_s: float) -> FileLock | None:
    """Return a lock that was taken, at once if it is free; None where that takes longer than `limit_s` seconds."""
    lock = open_file()
    try:
        if lock.take_at_once():
            return lock
    except BaseException:
        lock.close()
        raise
    lock.close()
    return wait_in_line(open_file, limit_s)
