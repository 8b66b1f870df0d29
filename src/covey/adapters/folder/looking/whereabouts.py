"""Whereabouts: where a file stands that is no longer where it was. Files only move forward: out of an inbox into the
archive, and from there to their task."""

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
    """Return the place further on where a file of this name stands now, and is no other one that is known. One that is
    owed may never have been there: then it has to be the same byte by byte."""
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
    """Go through the places in the order in which files move, so that none is overtaken by one."""
    if layout is Layout.MAILBOX:
        if row.shelf == Shelf.INBOX:
            yield ListedFolder(f"{row.owner}/{PROCESSED}", Shelf.ARCHIVE, row.owner)
        return
    if row.shelf == Shelf.INBOX:
        yield ListedFolder(ARCHIVE, Shelf.ARCHIVE)
    if row.shelf != Shelf.SWEPT:
        # All of them: the time of a folder may hide what others did in the moment in which we did something there.
        yield from (ListedFolder(f"{SWEPT}/{task}", Shelf.SWEPT, scope=task) for task in _tasks(root, row.name))


def _tasks(root: str, name: str) -> Sequence[str]:
    """Return the tasks in whose folders there is something of that name."""
    folder = f"{root}/{SWEPT}"
    try:
        tasks = sorted(os.listdir(folder), reverse=True)  # the newest ones first, as far as their names tell
    except OSError:
        return ()
    return [task for task in tasks if is_folder_name(task) and is_file(f"{folder}/{task}/{name}")]
