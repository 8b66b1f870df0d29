"""Files that are owed to the folder: they should be there and are not, because a writer was killed, a program or a
person removed them, or their folder can't be used."""

import os
import stat
from collections.abc import Collection, Sequence
from contextlib import suppress

from covey.adapters.folder import atomic
from covey.adapters.folder.judging import (
    PROBLEMS,
    Content,
    Fault,
    aside_stamp,
    digest_of,
    is_file,
    is_usable,
    read,
    stamp_of,
    stands,
)
from covey.adapters.folder.notebook.notebook import Notebook
from covey.adapters.folder.notebook.records import Aside, Row
from covey.core.formats.layout import Shelf


def recover(root: str, notebook: Notebook) -> None:
    """Remember owed files that are in their places after all: their writer was killed before it could remember them, or
    another program put them back."""
    for row in notebook.owed():
        found = read(f"{root}/{row.path}") if stands(root, row.folder) else None
        if isinstance(found, Content) and digest_of(found.content) == row.digest:
            notebook.put([row._replace(stamp=stamp_of(found.status))])
            forget_elsewhere(root, notebook, row)


def forget_elsewhere(root: str, notebook: Notebook, row: Row) -> None:
    """Forget the other places of a file. A place where a duplicate still exists stays remembered."""
    others = notebook.of_agent(row.message_id, row.agent)
    notebook.forget(
        other
        for other in others
        if (other.folder, other.name) != (row.folder, row.name) and not is_file(f"{root}/{other.path}")
    )


def owe(notebook: Notebook, superseded: Sequence[Row], owed: Sequence[Row]) -> None:
    """Remember files as owed, in place of the superseded ones."""
    with notebook.writing():
        notebook.forget(superseded)
        notebook.put(owed)
        notebook.own(row.owner for row in owed if row.shelf == Shelf.INBOX)


def make_usable(root: str, folders: Collection[str], notebook: Notebook) -> set[str]:
    """Make missing folders. Return the folders that can't be used, and set them aside."""
    hindered: set[str] = set()
    for folder in sorted(folders):
        if is_usable(root, folder, is_made=False):
            atomic.make_folders(root, *folder.split("/"))
        else:
            hindered.add(folder)
            _set_aside(root, folder, notebook)
    return hindered


def _set_aside(root: str, folder: str, notebook: Notebook) -> None:
    """Set aside the first part of a folder's path that can't be passed, or the folder itself."""
    above, path = "", ""
    for name in folder.split("/"):
        path = f"{above}/{name}" if above else name
        with suppress(OSError):
            status = os.lstat(f"{root}/{path}")
            is_last = path == folder
            if not stat.S_ISDIR(status.st_mode) or is_last or not os.access(f"{root}/{path}", os.X_OK):
                problem = PROBLEMS[Fault.HINDERED]
                notebook.put_aside(Aside(above, name, Fault.HINDERED, aside_stamp(status), problem))
                return
        above = path
