"""Folders of agents and of tasks, and other entries among them."""

import os
import stat
from collections.abc import Sequence

from covey.adapters.folder.judging import PROBLEMS, Fault, aside_stamp, is_text
from covey.adapters.folder.notebook.notebook import Notebook
from covey.adapters.folder.notebook.records import Aside
from covey.core.formats.foreign_ids import is_folder_name


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
            _set_aside(folder, entry, notebook, _fault(entry, is_folder))
    return found


def entries_of(path: str) -> Sequence["os.DirEntry[str]"]:
    """Return the entries of a folder, sorted by name; none if the folder can't be read."""
    try:
        with os.scandir(path) as entries:
            return sorted(entries, key=lambda entry: entry.name)
    except OSError:
        return ()


def _set_aside(folder: str, entry: "os.DirEntry[str]", notebook: Notebook, fault: Fault) -> None:
    try:
        stamp = aside_stamp(entry.stat(follow_symlinks=False))
    except OSError:
        return
    before = notebook.asides_in(folder).get(entry.name)
    if before is None or (before.kind, before.stamp) != (Fault.HINDERED, stamp):
        notebook.put_aside(Aside(folder, entry.name, fault, stamp, PROBLEMS[fault]))


def _fault(entry: "os.DirEntry[str]", is_folder: bool) -> Fault:
    if is_folder:
        return Fault.NAME
    if entry.is_symlink():
        return Fault.LINK
    try:
        is_regular = stat.S_ISREG(entry.stat(follow_symlinks=False).st_mode)
    except OSError:
        return Fault.STRAY
    return Fault.STRAY if is_regular else Fault.SPECIAL
