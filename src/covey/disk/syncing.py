"""Waiting for the disk.

On macOS fsync stops at the drive's own cache, which a power cut empties: there the drive itself is asked, unless it
can't be, as one of another machine. All functions raise OSError.
"""

# Light to import: short-lived programs come this way.

import fcntl
import os
import sys


def sync(descriptor: int) -> None:
    """Return when what was written to a file, and all that is known about it, is on the disk; of a folder, the names in
    it."""
    if not _has_asked_drive(descriptor):
        os.fsync(descriptor)


def sync_data(descriptor: int) -> None:
    """Do the same for what is needed to read it again: not when it was changed, for one."""
    if not _has_asked_drive(descriptor):
        os.fsync(descriptor) if sys.platform == "darwin" else os.fdatasync(descriptor)


def sync_folder(folder: str) -> None:
    """See to it that the names in a folder outlive a power cut."""
    sync_and_close(open_folder(folder))


def open_folder(folder: str) -> int:
    """Return a descriptor of a folder, for `sync`."""
    return os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)


def sync_and_close(descriptor: int) -> None:
    """Do both; it is closed in any case."""
    try:
        sync(descriptor)
    finally:
        os.close(descriptor)


def _has_asked_drive(descriptor: int) -> bool:
    if sys.platform == "darwin":
        try:
            fcntl.fcntl(descriptor, fcntl.F_FULLFSYNC)
        except OSError:
            return False
        return True
    return False
