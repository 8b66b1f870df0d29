"""Synchronisation with the disk (fsync).

On macOS, fsync stops at the drive's own cache, which a power cut empties. There F_FULLFSYNC is used, unless the file
system does not support it, such as a network file system. All functions may raise OSError.
"""

# Short-lived programs import this module, so it imports little.

import fcntl
import os
import sys


def sync(descriptor: int) -> None:
    """Block until the content and the metadata of a file are on the disk; for a folder, its entries."""
    if not _has_asked_drive(descriptor):
        os.fsync(descriptor)


def sync_data(descriptor: int) -> None:
    """Like `sync`, but without metadata that is not needed to read the content, such as the time of the last change."""
    if not _has_asked_drive(descriptor):
        os.fsync(descriptor) if sys.platform == "darwin" else os.fdatasync(descriptor)


def sync_folder(folder: str) -> None:
    """Block until the entries of a folder are on the disk."""
    sync_and_close(open_folder(folder))


def open_folder(folder: str) -> int:
    """Return a descriptor of a folder, for `sync`."""
    return os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)


def sync_and_close(descriptor: int) -> None:
    """Synchronise and close a descriptor; close it also after an error."""
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
