"""The files of a store, private to their owner."""

# No pathlib, as in statements.py.

import os
from typing import Final

from covey.core.errors import StoreCorrupt

PRIVATE_FOLDER: Final = 0o700
HIDDEN_FOLDER: Final = ".covey"
EMPTY: Final = (
    "it is an empty file (0 bytes): the store was cut off, or another program made the file. Restore a backup to this"
    " path; or, for a new space, remove the file and run `covey init`"
)


def prepare(path: str) -> None:
    """Make the folder and the file of a database if they are missing. Refuse an empty file: Covey never makes one, so
    the file is a truncated store or belongs to another program.

    This function never opens an existing file: closing it would drop SQLite's locks on the file in this process.
    """
    folder = os.path.dirname(path)
    if not os.path.isdir(folder):
        _make_folder(folder)
        if os.path.basename(folder) == HIDDEN_FOLDER:
            from covey.disk.private import write_new  # here because only a new folder needs it

            write_new(os.path.join(folder, ".gitignore"), b"*\n")
    try:
        if is_empty(path):
            raise StoreCorrupt(path, EMPTY)
    except FileNotFoundError:
        from covey.adapters.sqlite.engine.blank import make_blank  # here because only a new store needs it

        make_blank(path)


def is_empty(path: str) -> bool:
    """Tell whether a file has 0 bytes and no log. After a power cut, all data of a new store may be in the log. Raise
    FileNotFoundError if the file is missing."""
    if os.stat(path).st_size > 0:
        return False
    try:
        return os.stat(f"{path}-wal").st_size == 0
    except FileNotFoundError:
        return True


def remove(path: str) -> None:
    """Remove a file, if there is one."""
    try:
        os.unlink(path)
    except FileNotFoundError:
        return


def _make_folder(folder: str) -> None:
    """Make a folder and its parents, and sync each parent, so that a power cut does not remove the folder and its
    files."""
    above = os.path.dirname(folder)
    if not os.path.isdir(above):
        _make_folder(above)
    try:
        os.mkdir(folder, PRIVATE_FOLDER)
    except FileExistsError:
        return  # another process was faster; or a file has this name, and opening the database will report that
    from covey.disk.syncing import sync_folder  # here because only a new folder needs it

    sync_folder(above)
