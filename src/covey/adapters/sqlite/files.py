"""The files of a store: made for their owner alone."""

# No pathlib, as in statements.py.

import os
from typing import Final

PRIVATE_FILE: Final = 0o600
PRIVATE_FOLDER: Final = 0o700
HIDDEN_FOLDER: Final = ".covey"


def prepare(path: str) -> None:
    """Make the folder of a database and an empty file for it, where they are missing.

    A file that is there is never opened here: closing it would drop the locks that SQLite has on it in this process.
    """
    folder = os.path.dirname(path)
    if not os.path.isdir(folder):
        _make_folder(folder)
        if os.path.basename(folder) == HIDDEN_FOLDER:
            write_new(os.path.join(folder, ".gitignore"), b"*\n")
    write_new(path, b"")


def lock_file(path: str) -> int:
    """Return a descriptor of the file, which is made where it is missing."""
    return os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, PRIVATE_FILE)


def write_new(path: str, content: bytes) -> None:
    """Write a file, unless there is one."""
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, PRIVATE_FILE)
    except FileExistsError:
        return
    try:
        os.write(descriptor, content)
    finally:
        os.close(descriptor)


def remove(path: str) -> None:
    """Remove a file, if it is there."""
    try:
        os.unlink(path)
    except FileNotFoundError:
        return


def _make_folder(folder: str) -> None:
    """Make a folder, and those above it, so that a power cut does not take them away again with what is in them."""
    above = os.path.dirname(folder)
    if not os.path.isdir(above):
        _make_folder(above)
    try:
        os.mkdir(folder, PRIVATE_FOLDER)
    except FileExistsError:
        return  # another process was faster; or it is no folder, and opening the file in it will say so
    from covey.disk.syncing import sync_folder  # here because it is seldom so

    sync_folder(above)
