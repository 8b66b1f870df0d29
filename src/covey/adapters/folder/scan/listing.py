"""The listing of one folder: new, changed and missing files."""

import os
import stat
import time
from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

from covey.adapters.folder import atomic
from covey.adapters.folder.disk_layout import BY_TASK
from covey.adapters.folder.entries import (
    PROBLEMS,
    EntryFault,
    FileContent,
    aside_stamp,
    digest_of,
    is_text,
    read,
    stamp_of,
)
from covey.adapters.folder.notebook.notebook import Notebook
from covey.adapters.folder.notebook.records import Row, SetAside
from covey.core.formats.layout import FilePlace, Shelf, is_folder_name
from covey.ports.folder import ArrivedFile

MOMENT_S: Final = 2.0
"""A younger file may be half written."""

_TMP: Final = ".tmp"


class ListedFolder(NamedTuple):
    """A folder to be listed."""

    folder: str
    shelf: Shelf
    owner: str = ""
    scope: str = ""

    def spot(self, name: str) -> FilePlace:
        return FilePlace(self.shelf, self.owner, name, self.scope)


class Stamps(NamedTuple):
    """The stamps of one state of a file."""

    file: str
    aside: str


class Listing:
    """One look at one folder. Entries with a fault are set aside here."""

    def __init__(
        self, root: str, place: ListedFolder, suffix: str, notebook: Notebook, *, is_deep: bool, is_tidy: bool
    ) -> None:
        """A deep listing also finds files that were changed in place. A tidy one removes the leftovers of killed
        writers."""
        self._path = f"{root}/{place.folder}"
        self._place = place
        self._suffix = suffix
        self._notebook = notebook
        self._is_deep = is_deep
        self._is_tidy = is_tidy
        self.leftovers: Sequence[str] = ()
        """Leftovers of killed writers, unless the listing is tidy."""
        self.arrived: list[ArrivedFile] = []
        self.stamps: dict[str, Stamps] = {}
        """Stamps of the arrived files, by name."""
        self.missing: list[Row] = []
        self.is_waiting = False
        """True if a file may still be half written."""
        self.is_more = False

    def take(self, room: int) -> None:
        """List the folder, and read up to `room` new files."""
        there = self._entries()
        is_inbox = self._place.shelf is Shelf.INBOX
        rows = (self._notebook.in_inbox if is_inbox else self._notebook.in_folder)(self._place.folder)
        asides = self._notebook.asides_in(self._place.folder)
        new: list[str] = []
        for name, entry in there.items():
            row = rows.pop(name, None)
            if row is None or not (row.stamp and self._is_same(row, entry)):
                aside = asides.pop(name, None)
                if aside is None or aside.stamp != _aside_stamp(entry):
                    new.append(name)
                if row is not None:
                    rows[name] = row
            elif asides:
                asides.pop(name, None)
        for name in asides:
            self._notebook.forget_aside(self._place.folder, name)
        for name in sorted(new):
            if len(self.arrived) >= room:
                self.is_more = True
                return
            self._judge(name, rows)
        self.missing = [row for name, row in rows.items() if row.stamp and name not in there]

    def _entries(self) -> Mapping[str, "os.DirEntry[str]"]:
        try:
            with os.scandir(self._path) as entries:
                found = {entry.name: entry for entry in entries}
        except (FileNotFoundError, NotADirectoryError):
            return {}
        # A name that begins with a dot is never that of a message, but mostly that of a temporary file.
        hidden = [name for name in found if name.startswith(".") or name.endswith(_TMP)]
        for name in hidden:
            del found[name]
        if hidden and self._is_tidy:
            atomic.remove_leftovers(self._path, hidden)
        elif hidden:
            self.leftovers = atomic.leftovers(self._path, hidden)
        if self._place.shelf is Shelf.ARCHIVE:
            found.pop(BY_TASK, None)
        return found

    def _is_same(self, row: Row, entry: "os.DirEntry[str]") -> bool:
        if self._place.shelf is not Shelf.INBOX:
            return True  # files in an archive are not examined again: there may be very many
        if not self._is_deep:
            return row.stamp.startswith(f"{entry.inode()}.")  # costs nothing; the inode changes when a file is replaced
        try:
            return stamp_of(entry.stat(follow_symlinks=False)) == row.stamp
        except OSError:
            return False

    def _judge(self, name: str, rows: Mapping[str, Row]) -> None:
        path = f"{self._path}/{name}"
        found = self._fault(name, path) or read(path)
        if found is None:
            return  # it has just gone: the folder will be listed again
        if isinstance(found, EntryFault):
            self._set_aside(name, path, found)
            return
        row = rows.get(name)
        digest = digest_of(found.content)
        if row is not None and row.digest == digest:
            self._notebook.put([row._replace(stamp=stamp_of(found.status))])
        elif _is_young(found) and not _is_whole(found.content):
            self.is_waiting = True
        else:
            self.stamps[name] = Stamps(stamp_of(found.status), aside_stamp(found.status))
            self.arrived.append(ArrivedFile(self._place.spot(name), found.content, digest, found.status.st_mtime))

    def _fault(self, name: str, path: str) -> EntryFault | None:
        if not is_text(name) or not is_folder_name(name):
            return EntryFault.NAME
        if name.endswith(self._suffix):
            return None
        try:
            mode = os.lstat(path).st_mode
        except OSError:
            return None
        if stat.S_ISLNK(mode):
            return EntryFault.LINK
        return EntryFault.STRAY if stat.S_ISREG(mode) or stat.S_ISDIR(mode) else EntryFault.SPECIAL

    def _set_aside(self, name: str, path: str, fault: EntryFault) -> None:
        try:
            stamp = aside_stamp(os.lstat(path))
        except OSError:
            return
        self._notebook.put_aside(SetAside(self._place.folder, name, fault, stamp, PROBLEMS[fault]))


def _aside_stamp(entry: "os.DirEntry[str]") -> str:
    try:
        return aside_stamp(entry.stat(follow_symlinks=False))
    except OSError:
        return ""


def _is_young(found: FileContent) -> bool:
    # By ctime, which programs can't set, and in both directions, because clocks differ.
    return abs(time.time() - found.status.st_ctime) < MOMENT_S


def _is_whole(content: bytes) -> bool:
    import json  # imported late because most looks find nothing new

    try:
        return isinstance(json.loads(content), dict)
    except (ValueError, RecursionError):
        return False
