"""Places of files: the folders of agents and tasks, files that have moved, and files that are owed to the folder.

Files only move forward: from an inbox into the archive, and from there into the folder of their task. An owed file
should be in the folder and is not, because a writer was killed, a program or a person removed it, or its folder can't
be used.
"""

import os
import stat
from collections.abc import Collection, Iterator, Sequence
from contextlib import suppress

from covey.adapters.folder import atomic
from covey.adapters.folder.disk_layout import ARCHIVE, PROCESSED, SWEPT
from covey.adapters.folder.entries import (
    PROBLEMS,
    EntryFault,
    FileContent,
    aside_stamp,
    digest_of,
    is_file,
    is_text,
    is_usable,
    read,
    stamp_of,
    stands,
)
from covey.adapters.folder.notebook.notebook import Notebook
from covey.adapters.folder.notebook.records import Row, SetAside
from covey.adapters.folder.scan.listing import ListedFolder
from covey.core.formats.layout import Layout, Shelf, is_folder_name


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
    return isinstance(found, FileContent) and digest_of(found.content) == digest


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


def recover(root: str, notebook: Notebook) -> None:
    """Remember owed files that are in their places after all: their writer was killed before it could remember them, or
    another program put them back."""
    for row in notebook.owed():
        found = read(f"{root}/{row.path}") if stands(root, row.folder) else None
        if isinstance(found, FileContent) and digest_of(found.content) == row.digest:
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
                problem = PROBLEMS[EntryFault.HINDERED]
                notebook.put_aside(SetAside(above, name, EntryFault.HINDERED, aside_stamp(status), problem))
                return
        above = path


def folders_in(root: str, folder: str, notebook: Notebook, *, is_ours: bool) -> Sequence[str]:
    """Return the names of the folders in a folder, sorted. Other entries are set aside. If the folder is not ours alone
    (`is_ours=False`), only folders with unusable names and links to folders are set aside."""
    found: list[str] = []
    for entry in entries_of(f"{root}/{folder}" if folder else root):
        if entry.name.startswith(".") or entry.name.endswith(".tmp"):
            continue
        is_folder = entry.is_dir(follow_symlinks=False)
        if is_folder and is_text(entry.name) and is_folder_name(entry.name):
            found.append(entry.name)
        elif is_ours or is_folder or (entry.is_symlink() and entry.is_dir()):
            _set_entry_aside(folder, entry, notebook, _fault(entry, is_folder))
    return found


def entries_of(path: str) -> Sequence["os.DirEntry[str]"]:
    """Return the entries of a folder, sorted by name; none if the folder can't be read."""
    try:
        with os.scandir(path) as entries:
            return sorted(entries, key=lambda entry: entry.name)
    except OSError:
        return ()


def _set_entry_aside(folder: str, entry: "os.DirEntry[str]", notebook: Notebook, fault: EntryFault) -> None:
    try:
        stamp = aside_stamp(entry.stat(follow_symlinks=False))
    except OSError:
        return
    before = notebook.asides_in(folder).get(entry.name)
    if before is None or (before.kind, before.stamp) != (EntryFault.HINDERED, stamp):
        notebook.put_aside(SetAside(folder, entry.name, fault, stamp, PROBLEMS[fault]))


def _fault(entry: "os.DirEntry[str]", is_folder: bool) -> EntryFault:
    if is_folder:
        return EntryFault.NAME
    if entry.is_symlink():
        return EntryFault.LINK
    try:
        is_regular = stat.S_ISREG(entry.stat(follow_symlinks=False).st_mode)
    except OSError:
        return EntryFault.STRAY
    return EntryFault.STRAY if is_regular else EntryFault.SPECIAL
