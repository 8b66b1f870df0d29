"""Freshness of folders: a test for changes since the last look, by the time of the last change."""

import os
import time
from collections.abc import Mapping
from typing import Final, NamedTuple

UNSEEN: Final = 0
"""The time in the mark of a folder that has to be listed in any case."""
ABSENT: Final = -1
UNUSABLE: Final = -2
"""The path is a link or no folder, or can't be examined."""

RACY_NS: Final = 50_000_000
"""The time after which a recently changed folder is listed again. Kernels count time in steps of up to 10 ms. So a
folder that changed shortly before a look may change once more without getting a new time."""


class Mark(NamedTuple):
    """The state of a folder at the end of the last look or our last change."""

    mtime: int
    """The time of the folder's last change, in nanoseconds, or `UNSEEN`, `ABSENT` or `UNUSABLE`."""
    racy_since: int = 0
    """The start of the time in which the folder may have changed without a new mtime; 0 if that is impossible."""


def time_of(path: str) -> int:
    """Return the time of a folder's last change, in nanoseconds, or `ABSENT` or `UNUSABLE`."""
    try:
        status = os.lstat(path)
    except FileNotFoundError:
        return ABSENT
    except OSError:
        return UNUSABLE
    # Without the `stat` module: its function costs more than the comparison.
    return status.st_mtime_ns if status.st_mode & 0o170000 == 0o040000 else UNUSABLE


def mark_of(changed_ns: int, looked_ns: int) -> Mark:
    """Return the mark of a folder that was listed: its time of change, and the time when the look began."""
    is_racy = changed_ns >= 0 and looked_ns - changed_ns <= RACY_NS
    return Mark(changed_ns, changed_ns if is_racy else 0)


def mark_after(before: Mark, changed_ns: int) -> Mark:
    """Return the mark of a folder that was unchanged before our own change. The mark is racy: the folder is listed once
    more, which finds changes by other programs at the same moment."""
    return Mark(changed_ns, before.racy_since or changed_ns)


def is_left(mark: Mark, changed_ns: int, at_ns: int) -> bool:
    """Tell whether a folder with this time of change is unchanged since its mark."""
    if mark.mtime != changed_ns or changed_ns == UNSEEN:
        return False
    # A time in the future counts as a change too.
    return mark.racy_since == 0 or 0 <= at_ns - mark.racy_since <= RACY_NS


def are_left(root: str, marks: Mapping[str, Mark]) -> bool:
    """Tell whether all the folders are unchanged since their marks."""
    now = now_ns()
    return all(is_left(mark, time_of(f"{root}/{folder}" if folder else root), now) for folder, mark in marks.items())


def now_ns() -> int:
    """Return the present time on the clock that the kernel uses for changes of files."""
    return time.time_ns()
