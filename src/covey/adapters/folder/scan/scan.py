"""The scan: a search for changes by other programs, at a cost that follows the number of waiting files."""

import os
import time
from collections.abc import Iterator, Sequence
from typing import Final

from covey.adapters.folder.disk_layout import (
    ARCHIVE,
    PROCESSED,
    SWEPT,
    above_inboxes,
    inbox_of,
    suffix_of,
)
from covey.adapters.folder.entries import (
    ABSENT,
    PROBLEMS,
    RACY_NS,
    UNSEEN,
    EntryFault,
    FolderMark,
    aside_stamp,
    is_left,
    is_text,
    is_usable,
    mark_of,
    now_ns,
    stands,
    time_of,
)
from covey.adapters.folder.notebook.notebook import Notebook
from covey.adapters.folder.notebook.records import ASIDES_AT_ONCE, DEEP, FolderSort, Row, SetAside, is_due, is_still
from covey.adapters.folder.scan.listing import ListedFolder, Listing, Stamps
from covey.adapters.folder.scan.places import folders_in, recover, whereabouts
from covey.core.formats.layout import FilePlace, Layout, Shelf
from covey.ports.folder import ArrivedFile, DepartedFile, FolderChanges

AFTER_OWN_S: Final = 600.0
"""The interval at which history is listed that only we have changed, as far as its times tell. Only a listing finds the
changes that another program made at the same moment."""


class FolderScan:
    """The looks of one visit. A reported change counts as seen only when it is `settled`, so that no change is lost."""

    def __init__(self, root: str, layout: Layout, notebook: Notebook, *, is_tidy: bool = True) -> None:
        self._root = root
        self._layout = layout
        self._suffix = suffix_of(layout)
        self._notebook = notebook
        self._is_tidy = is_tidy
        self.leftovers: list[str] = []
        """Leftovers of killed writers; empty if the look is tidy, because then they were removed."""
        self._leaving: dict[str, tuple[FolderSort, FolderMark, float]] = {}
        self._open: dict[str, set[str]] = {}
        """Names of reported files that are not settled, by folder."""
        self.stamps: dict[tuple[str, str], Stamps] = {}
        """Stamps of the reported files, at the time when they were read."""
        self.owners: set[str] = set()
        """Folders of agents that were reported."""
        self._begin(0)

    def look(self, limit: int) -> FolderChanges:
        with self._notebook.writing():
            self.leave()
            self._leaving.clear()
            self._open.clear()
            self._begin(limit)
            self._weigh_asides()
            recover(self._root, self._notebook)
            self._tell_owed()
            owners = self._inboxes()
            if self._is_deep:
                self._history(owners)
                if not self._is_more:
                    self._notebook.put_marks({DEEP: str(self._now)})
            fresh = sorted(owners - self._notebook.owners() - self.owners)
            self.owners.update(fresh)
        return FolderChanges(self._arrived, self._left, None, fresh, self._is_more)

    @property
    def is_open(self) -> bool:
        """True if a reported change is not settled."""
        return any(self._open.values())

    def settled(self, folder: str, name: str) -> None:
        """Record that a reported change was handled."""
        if folder in self._open:
            self._open[folder].discard(name)

    def leave(self) -> None:
        """Store the marks of the folders whose reported changes are all settled."""
        with self._notebook.writing():
            for folder in [folder for folder in self._leaving if not self._open.get(folder)]:
                self._notebook.leave(folder, *self._leaving.pop(folder))

    def _begin(self, limit: int) -> None:
        self._room = limit
        self._is_more = False
        self._arrived: list[ArrivedFile] = []
        self._left: list[DepartedFile] = []
        self._is_first = not self._notebook.mark(DEEP)
        self._is_deep = self._is_first or is_due(self._notebook.mark(DEEP))
        self._started_ns = now_ns()
        self._now = time.time()

    def _weigh_asides(self) -> None:
        """Forget entries that were set aside and have changed. Their folders are listed again."""
        asides = self._notebook.asides()
        for aside in asides if self._is_deep else asides[:ASIDES_AT_ONCE]:
            if not is_still(self._root, aside):
                self._notebook.forget_aside(aside.folder, aside.name)
                self._notebook.leave_again(aside.folder, FolderMark(UNSEEN))
                if is_text(aside.name):
                    self._notebook.leave_again(aside.path, FolderMark(UNSEEN))

    def _tell_owed(self) -> None:
        for row in self._notebook.owed():
            place = whereabouts(self._root, self._layout, self._notebook, row)
            if place is not None:  # its writer was killed before it could remember the file; another program moved it
                self._tell_left(row, place.spot(row.name))
            elif is_usable(self._root, row.folder, is_made=False):
                self._tell_left(row, None)

    def _tell_left(self, row: Row, now: FilePlace | None) -> None:
        self._open.setdefault(row.folder, set()).add(row.name)
        if self._room <= 0:
            self._is_more = True
            return
        self._room -= 1
        self._left.append(DepartedFile(row.known, now))

    # Inboxes, with every look.

    def _inboxes(self) -> set[str]:
        """List the inboxes that have changed, and return the folders of agents that were found."""
        left = self._notebook.inboxes()
        above = above_inboxes(self._layout)
        changed = time_of(f"{self._root}/{above}" if above else self._root)
        mark = left.pop(above, FolderMark(UNSEEN))
        if self._is_deep or not is_left(mark, changed, self._started_ns):
            owners = set(self._owners(above, changed))
            self._leaving[above] = (FolderSort.INBOX, mark_of(changed, self._started_ns), self._now)
        else:
            owners = set[str]()
        for owner in sorted(owners):
            folder = inbox_of(self._layout, owner)
            if folder not in left:
                # So that the inbox is looked for even if the folder above it has not changed.
                left[folder] = FolderMark(UNSEEN)
                self._notebook.leave(folder, FolderSort.INBOX, FolderMark(UNSEEN), 0.0)
        for folder, mark in left.items():
            owner = folder.removeprefix(f"{above}/") if above else folder.rpartition("/")[0]
            is_there = self._inbox(ListedFolder(folder, Shelf.INBOX, owner), mark)
            if is_there:
                owners.add(owner)
            else:
                owners.discard(owner)
        return owners

    def _owners(self, above: str, changed: int) -> Sequence[str]:
        if not self._can_list(ListedFolder(above, Shelf.INBOX), changed):
            return ()
        # The root of mailboxes may hold other entries, which are not ours to report.
        return folders_in(self._root, above, self._notebook, is_ours=bool(above))

    def _inbox(self, place: ListedFolder, mark: FolderMark) -> bool:
        changed = time_of(f"{self._root}/{place.folder}")
        if self._is_deep or not is_left(mark, changed, self._started_ns):
            self._list(place, FolderSort.INBOX, changed)
        if changed != ABSENT:
            return changed > 0
        if self._layout is Layout.MAILBOX and stands(self._root, f"{place.owner}/{PROCESSED}"):
            return True
        is_empty = not self._open.get(place.folder)
        if is_empty and not os.path.lexists(f"{self._root}/{place.folder.rpartition('/')[0]}"):
            self._notebook.forget_folder(place.folder)
            self._leaving.pop(place.folder, None)
        return False

    # History, now and then.

    def _history(self, owners: set[str]) -> None:
        for place in self._shelves(owners):
            mtime, listed_at = self._notebook.folder(place.folder)
            changed = time_of(f"{self._root}/{place.folder}")
            is_ours_alone = changed == mtime != UNSEEN
            is_quiet = mtime < listed_at * 1e9 - RACY_NS or 0 <= self._now - listed_at < AFTER_OWN_S
            if self._is_first or not (is_ours_alone and is_quiet):
                self._list(place, FolderSort.HISTORY, changed)

    def _shelves(self, owners: set[str]) -> Iterator[ListedFolder]:
        if self._layout is Layout.MAILBOX:
            yield from (ListedFolder(f"{owner}/{PROCESSED}", Shelf.ARCHIVE, owner) for owner in sorted(owners))
            return
        yield ListedFolder(ARCHIVE, Shelf.ARCHIVE)
        if stands(self._root, SWEPT):
            tasks = folders_in(self._root, SWEPT, self._notebook, is_ours=True)
            yield from (ListedFolder(f"{SWEPT}/{task}", Shelf.SWEPT, scope=task) for task in tasks)

    # One folder.

    def _list(self, place: ListedFolder, sort: FolderSort, changed: int) -> None:
        if self._room <= 0:
            self._is_more = True
            return
        if not self._can_list(place, changed):
            self._leaving[place.folder] = (sort, FolderMark(changed), self._now)
            return
        listing = Listing(self._root, place, self._suffix, self._notebook, is_deep=self._is_deep, is_tidy=self._is_tidy)
        listing.take(self._room)
        self.leftovers += (f"{place.folder}/{name}" for name in listing.leftovers)
        for arrived in listing.arrived:
            name = arrived.spot.name
            self.stamps[place.folder, name] = listing.stamps[name]
            self._open.setdefault(place.folder, set()).add(name)
        self._arrived += listing.arrived
        self._room -= len(listing.arrived)
        for row in listing.missing:
            self._missed(row)
        self._is_more = self._is_more or listing.is_more
        if not listing.is_more:
            mark = FolderMark(UNSEEN) if listing.is_waiting else mark_of(changed, self._started_ns)
            if mark.racy_since and sort is FolderSort.HISTORY:
                mark = FolderMark(UNSEEN)
            self._leaving[place.folder] = (sort, mark, self._now)

    def _can_list(self, place: ListedFolder, changed: int) -> bool:
        """Tell whether a folder can be listed; a folder that can't is set aside. A missing folder counts as listable,
        so that its files are reported as missing."""
        if changed == ABSENT or not place.folder:
            return True
        if stands(self._root, place.folder) and os.access(f"{self._root}/{place.folder}", os.R_OK | os.X_OK):
            return True
        above, _, name = place.folder.rpartition("/")
        try:
            stamp = aside_stamp(os.lstat(f"{self._root}/{place.folder}"))
        except OSError:
            return False
        self._notebook.put_aside(SetAside(above, name, EntryFault.HINDERED, stamp, PROBLEMS[EntryFault.HINDERED]))
        return False

    def _missed(self, row: Row) -> None:
        place = whereabouts(self._root, self._layout, self._notebook, row)
        now = None if place is None else place.spot(row.name)
        if now is None:
            self._notebook.put([row._replace(stamp="")])
            if not is_usable(self._root, row.folder, is_made=False):
                return
        self._tell_left(row, now)
