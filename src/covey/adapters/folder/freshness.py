"""Freshness: whether a folder is as it was left, by the time of its last change."""

import os
import time
from collections.abc import Mapping
from typing import Final, NamedTuple

UNSEEN: Final = 0
"""How a folder was left that has to be looked through, whatever its time says."""
ABSENT: Final = -1
UNUSABLE: Final = -2
"""A link stands in its place, or no folder."""

RACY_NS: Final = 50_000_000
"""A change may bear the time of a moment before it: kernels count in steps of up to 10 ms. So a folder that was changed
so shortly before a look may have changed once more without another time, and is looked through again after this."""


class Mark(NamedTuple):
    """How a folder was left."""

    mtime: int
    """The time of its last change, in nanoseconds, or why there is none."""
    racy_since: int = 0
    """Since when it may have changed without another time; 0 where it can't."""


def time_of(path: str) -> int:
    """Return when a folder was last changed, in nanoseconds, or why that can't be said."""
    try:
        status = os.lstat(path)
    except FileNotFoundError:
        return ABSENT
    except OSError:
        return UNUSABLE
    # No `stat` module: its function costs more than the comparison.
    return status.st_mtime_ns if status.st_mode & 0o170000 == 0o040000 else UNUSABLE


def mark_of(changed_ns: int, looked_ns: int) -> Mark:
    """Return how a folder is left that had this time when the look began."""
    is_racy = changed_ns >= 0 and looked_ns - changed_ns <= RACY_NS
    return Mark(changed_ns, changed_ns if is_racy else 0)


def mark_after(before: Mark, changed_ns: int) -> Mark:
    """Return how a folder is left that was as it had been left, and that we have changed. What others did in the same
    moment is seen when it is looked through once more."""
    return Mark(changed_ns, before.racy_since or changed_ns)


def is_left(mark: Mark, changed_ns: int, at_ns: int) -> bool:
    """Tell whether a folder with this time is as it was left."""
    if mark.mtime != changed_ns or changed_ns == UNSEEN:
        return False
    # Not either where its time is in the future.
    return mark.racy_since == 0 or 0 <= at_ns - mark.racy_since <= RACY_NS


def are_left(root: str, marks: Mapping[str, Mark]) -> bool:
    """Tell whether all the folders are as they were left."""
    now = now_ns()
    return all(is_left(mark, time_of(f"{root}/{folder}" if folder else root), now) for folder, mark in marks.items())


def now_ns() -> int:
    """Return the time in which the kernel tells when files change."""
    return time.time_ns()
