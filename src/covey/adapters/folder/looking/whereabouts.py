"""Present places of files that have moved. Files only move forward: from an inbox into the archive, and from there into
the folder of their task."""

import os
from collections.abc import Iterator, Sequence

from covey.adapters.folder.judging import Content, digest_of, is_file, read, stands
from covey.adapters.folder.looking.listing import ListedFolder
from covey.adapters.folder.notebook.notebook import Notebook
from covey.adapters.folder.notebook.records import Row
from covey.adapters.folder.shelves import ARCHIVE, PROCESSED, SWEPT
from covey.core.formats.foreign_ids import is_folder_name
from covey.core.formats.layout import Layout, Shelf


def whereabouts(root: str, layout: Layout, notebook: Notebook, row: Row) -> ListedFolder | None:
    """Return the later place at which a file of this name is now, unless that is another known file; None if there is
    none. A file that is owed may never have been written: then the digest of the content must match too."""
    for place in _further(root, layout, row):
        path = f"{root}/{place.folder}/{row.name}"
        if is_file(path) and stands(root, place.folder) and (row.stamp or _holds(path, row.digest)):
            other = notebook.at(place.folder, row.name)
            if other is None or (other.message_id, other.agent) == (row.message_id, row.agent):
                return place
    return None


def _holds(path: str, digest: str) -> bool:
    found = read(path)
    return isinstance(found, Content) and digest_of(found.content) == digest


def _further(root: str, layout: Layout, row: Row) -> Iterator[ListedFolder]:
    """Yield the places in the order in which files move, so that a file that moves meanwhile is not missed."""
    if layout is Layout.MAILBOX:
        if row.shelf == Shelf.INBOX:
            yield ListedFolder(f"{row.owner}/{PROCESSED}", Shelf.ARCHIVE, row.owner)
        return
    if row.shelf == Shelf.INBOX:
        yield ListedFolder(ARCHIVE, Shelf.ARCHIVE)
    if row.shelf != Shelf.SWEPT:
        # All tasks: the time of a folder may hide a change that another program made at the same moment as we did.
        yield from (ListedFolder(f"{SWEPT}/{task}", Shelf.SWEPT, scope=task) for task in _tasks(root, row.name))


def _tasks(root: str, name: str) -> Sequence[str]:
    """Return the tasks whose folders have a file of that name."""
    folder = f"{root}/{SWEPT}"
    try:
        tasks = sorted(os.listdir(folder), reverse=True)  # the newest first, as far as names tell
    except OSError:
        return ()
    return [task for task in tasks if is_folder_name(task) and is_file(f"{folder}/{task}/{name}")]
