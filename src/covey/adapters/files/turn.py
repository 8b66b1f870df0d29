"""Turns: one visitor at a time, among all threads and processes."""

import fcntl
import os
from _thread import allocate_lock, start_new_thread  # threading would cost a short-lived process a millisecond

from covey.core.errors import StoreBusy


def take_turn(path: str, limit_s: float) -> int:
    """Return a descriptor; closing it ends the turn. StoreBusy after so many seconds."""
    descriptor = _open(path)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(descriptor)
        return _wait(path, limit_s)
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


def _wait(path: str, limit_s: float) -> int:
    """Wait in line on another thread, because nothing can interrupt a thread that waits for a lock. If it comes too
    late, it gives the turn back."""
    descriptor = _open(path)
    decision, done = allocate_lock(), allocate_lock()
    done.acquire()
    is_given_up = is_ours = False

    def wait() -> None:
        nonlocal is_ours
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        with decision:
            is_ours = not is_given_up
        if is_given_up:
            os.close(descriptor)
        done.release()

    start_new_thread(wait, ())
    try:
        done.acquire(timeout=limit_s)
    finally:
        with decision:
            is_given_up = not is_ours
    if is_given_up:
        raise StoreBusy(path, limit_s)
    return descriptor


def _open(path: str) -> int:
    return os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
