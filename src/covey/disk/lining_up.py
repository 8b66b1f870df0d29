"""Waiting in line for a lock on a file, and giving up."""

import fcntl
import os
from _thread import allocate_lock, start_new_thread  # threading would cost a short-lived process a millisecond
from collections.abc import Callable


def wait_in_line(open_file: Callable[[], int], limit_s: float) -> int | None:
    """Return a descriptor that has the lock; None where that takes longer than `limit_s` seconds.

    Another thread waits, because nothing can interrupt one that waits for a lock. It has a descriptor of its own: if it
    comes too late, it gives the lock back, and nobody else is touched by it.
    """
    descriptor = open_file()
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
    return None if is_given_up else descriptor
