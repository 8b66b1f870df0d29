"""The files of a store: made for their owner alone."""

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
    """Make the folder of a database and a file for it, where they are missing. An empty file is refused: nothing makes
    one, so it is what is left of a store, or another program's.

    A file that is there is never opened here: closing it would drop the locks that SQLite has on it in this process.
    """
    folder = os.path.dirname(path)
    if not os.path.isdir(folder):
        _make_folder(folder)
        if os.path.basename(folder) == HIDDEN_FOLDER:
            from covey.disk.private import write_new  # here because it is seldom so

            write_new(os.path.join(folder, ".gitignore"), b"*\n")
    try:
        if is_empty(path):
            raise StoreCorrupt(path, EMPTY)
    except FileNotFoundError:
        from covey.adapters.sqlite.engine.blank import make_blank  # here because it is seldom so

        make_blank(path)


def is_empty(path: str) -> bool:
    """Tell whether a file has 0 bytes, and no log: after a power cut that may be all that there is of a new store. One
    that is not there is FileNotFoundError."""
    if os.stat(path).st_size > 0:
        return False
    try:
        return os.stat(f"{path}-wal").st_size == 0
    except FileNotFoundError:
        return True


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
