"""Synchronising files with the ledger: each file is written, moved or left, and remembered before and after.

The writer first records the wanted places of the files. If the writer is killed after that, the next writer knows which
files are ours: a file in its recorded place is ours, and a file that is missing there is owed.
"""

import os
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from typing import Final, NamedTuple, Protocol

from covey.adapters.folder import atomic
from covey.adapters.folder.disk_layout import folder_of, suffix_of
from covey.adapters.folder.entries import (
    UNSEEN,
    FileContent,
    FolderMark,
    digest_of,
    is_file,
    mark_after,
    read,
    stamp_of,
    stands,
    time_of,
)
from covey.adapters.folder.notebook.notebook import Notebook
from covey.adapters.folder.notebook.records import DEEP, Row, row
from covey.adapters.folder.scan.places import forget_elsewhere, make_usable, owe, recover, whereabouts
from covey.core.errors import Invalid
from covey.core.formats.layout import KnownFile, Layout, Shelf
from covey.core.names import parse_message_id
from covey.ports.folder import WantedFile

_ORDER: Final = (Shelf.INBOX, Shelf.ARCHIVE, Shelf.SWEPT)
"""The shelves of a file, in the order in which files move."""

_TAKEN: Final = "taken"
"""The stamp of a file that another program moved on before we could examine it. The next look finds the file."""


class _Step(NamedTuple):
    """A file to be put into its place."""

    row: Row
    content: bytes
    source: Row | None
    """The present place of the file; None if the file has to be written."""
    is_there: bool = False
    """True if the file is in its place already, but was not known there."""
    earlier: Sequence[Row] = ()
    """Former places of the file, and places where it was owed."""


class SyncWaits(Protocol):
    """The waits that a synchronisation of files needs, and their order."""

    def intend(self, superseded: Sequence[Row], owed: Sequence[Row]) -> None:
        """Record the files that are about to be written, for the next writer if this one is killed. The rows `owed`
        replace the rows `superseded`."""
        ...

    def confirming(self) -> None:
        """Start waiting until the messages of the files are durable in the ledger."""
        ...

    def confirmed(self) -> None:
        """Block until the messages of the files are durable in the ledger."""
        ...

    def later(self, wait: atomic.FolderSync) -> None:
        """Schedule a wait for the disk before the end of the visit."""
        ...

    def afterwards(self, remember: Callable[[], None]) -> None:
        """Schedule a change of the notebook before its next query."""
        ...


class FileSync:
    def __init__(
        self, root: str, layout: Layout, notebook: Notebook, waits: SyncWaits, *, is_quiet: bool = False
    ) -> None:
        """`is_quiet` means that a look has just found all inboxes unchanged."""
        self._root = root
        self._layout = layout
        self._notebook = notebook
        self._waits = waits
        self._taken: set[str] = set()
        """Paths that this batch uses for its files."""
        marks = notebook.inboxes() if is_quiet else {}
        self._standing = {folder: True for folder, mark in marks.items() if mark.mtime > 0}
        """Examined folders; True for each one that exists without a link on its path."""

    def bring(self, sheets: Sequence[WantedFile]) -> None:
        if not sheets:
            return
        recover(self._root, self._notebook)
        steps: list[_Step] = []
        spare: list[tuple[Row, Row]] = []
        for sheet in sheets:
            step = self._step(sheet, spare)
            if step is not None:
                steps.append(step)
        # A file that was owed under another name, or in another place, is owed here now.
        superseded = [each for step in steps for each in step.earlier if not each.stamp]
        folders = {step.row.folder for step in steps}
        hindered = make_usable(self._root, {one for one in folders if not self._is_usable(one)}, self._notebook)
        usable = [step for step in steps if step.row.folder not in hindered]
        if usable:
            self._waits.intend(superseded, [step.row for step in steps])
        elif steps:
            owe(self._notebook, superseded, [step.row for step in steps])
        if usable or spare:
            before = self._times(usable, spare)
            written = self._act(usable, spare)

            def remember() -> None:
                with self._notebook.writing():
                    self._notebook.forget(superseded)
                    self._notebook.put(step.row for step in steps if step.row.folder in hindered)
                    self._remember(usable, written, spare, before)

            self._waits.afterwards(remember)

    def _step(self, sheet: WantedFile, spare: list[tuple[Row, Row]]) -> _Step | None:
        """Return the step for a file, or None if nothing has to be done now. Duplicates of the file are added to
        `spare`."""
        known = sheet.known
        folder = folder_of(self._layout, known.spot)
        rows = () if sheet.is_new else self._notebook.of_agent(known.message_id, known.agent)
        standing = [each for each in rows if each.stamp and is_file(f"{self._root}/{each.path}")]
        right = next((each for each in standing if each.folder == folder), None)
        if right is not None:
            spare += ((each, right) for each in standing if each.folder != folder)
            return None
        if not standing and any(self._has_gone_ahead(each, known.spot.shelf) for each in rows):
            return None  # another program has just moved it further than its wanted place: the next look finds it
        source = next(iter(standing), None)
        digest = digest_of(sheet.content) if source is None else source.digest
        if source is None:
            adopted = self._adopted(folder, known, {digest, *(each.digest for each in rows)})
            if adopted is not None:
                return _Step(row(known, folder, adopted, ""), sheet.content, None, is_there=True, earlier=rows)
            if not rows and not known.is_ours and known.spot.shelf is Shelf.INBOX:
                self._put_off(row(known, folder, digest, ""))
                return None
        owed = {each.path for each in rows if not each.stamp}
        wish = known._replace(spot=known.spot._replace(name=self._free_name(folder, known.spot.name, owed)))
        step = _Step(row(wish, folder, digest, ""), sheet.content, source, earlier=rows)
        spare += ((each, step.row) for each in standing[1:])
        return step

    def _put_off(self, owed: Row) -> None:
        """Postpone a file until the whole folder was examined. The process that accepted the file was killed before it
        could remember the file, and another program may have moved the file since. If the file is nowhere, the next
        look reports it as gone."""
        with self._notebook.writing():
            self._notebook.put([owed])
            self._notebook.put_marks({DEEP: ""})

    def _has_gone_ahead(self, each: Row, wanted: Shelf) -> bool:
        place = whereabouts(self._root, self._layout, self._notebook, each)
        return place is not None and _ORDER.index(place.shelf) > _ORDER.index(wanted)

    def _adopted(self, folder: str, known: KnownFile, digests: set[str]) -> str | None:
        """Return the digest of the file in the wanted place if it is the wanted file; otherwise None. Another program
        may have moved it there, or one of our processes wrote it and its notebook is lost."""
        name = known.spot.name
        there = read(f"{self._root}/{folder}/{name}") if self._stands(folder) else None
        if not isinstance(there, FileContent) or f"{folder}/{name}" in self._taken:
            return None
        other = self._notebook.at(folder, name)
        if other is not None and (other.message_id, other.agent) != (known.message_id, known.agent):
            return None
        digest = digest_of(there.content)
        if digest in digests or (_is_unique(known.file_id) and _id_in(self._layout, there.content) == known.file_id):
            self._taken.add(f"{folder}/{name}")
            return digest
        return None

    def _free_name(self, folder: str, name: str, owed: Collection[str] = ()) -> str:
        """Return a free name: `name`, or `name` with a number. The paths in `owed` belong to this file itself, and
        count as free."""
        suffix = suffix_of(self._layout)
        stem = name.removesuffix(suffix)
        wish, count = name, 1
        while not self._is_free(folder, wish, owed):
            count += 1
            wish = f"{stem}-{count}{suffix}"
        self._taken.add(f"{folder}/{wish}")
        return wish

    def _is_free(self, folder: str, name: str, owed: Collection[str]) -> bool:
        path = f"{folder}/{name}"
        if path in self._taken or os.path.lexists(f"{self._root}/{path}"):
            return False
        return path in owed or self._notebook.at(folder, name) is None

    def _stands(self, folder: str) -> bool:
        if folder not in self._standing:
            self._standing[folder] = stands(self._root, folder)
        return self._standing[folder]

    def _is_usable(self, folder: str) -> bool:
        return self._standing.get(folder, False) and os.access(f"{self._root}/{folder}", os.W_OK | os.X_OK)

    def _act(self, steps: Sequence[_Step], spare: Sequence[tuple[Row, Row]]) -> Sequence[_Step]:
        """Put files into their places, and return the steps whose files were written."""
        written = [step for step in steps if not step.is_there and step.source is None]
        moving = [step for step in steps if not step.is_there and step.source is not None]
        if moving or spare:
            self._waits.confirmed()
        for step in moving:
            if step.source is not None and not self._move(step.source, step.row):
                written.append(step)
        files = [(f"{self._root}/{step.row.path}", step.content) for step in written]
        atomic.name_all(files, self._waits.confirming, self._waits.confirmed)
        for each, right in spare:
            self._put_away(each, right)
        # Targets first: after a power cut between the two steps a file is in both folders, and never in none.
        sources = [step.source.folder for step in moving if step.source is not None]
        targets = [step.row.folder for step in (*moving, *written)]
        gone = [*sources, *(each.folder for each, _ in spare)]

        if gone:  # a file has left its folder: that must be durable before the notebook says so
            for some in (targets, gone):
                atomic.sync_folders(f"{self._root}/{folder}" for folder in dict.fromkeys(some))
        elif targets:
            self._waits.later(atomic.FolderSync(f"{self._root}/{folder}" for folder in targets))
        return written

    def _remember(
        self,
        steps: Sequence[_Step],
        written: Sequence[_Step],
        spare: Sequence[tuple[Row, Row]],
        before: Mapping[str, int],
    ) -> None:
        self._notebook.own(step.row.owner for step in steps if step.row.shelf == Shelf.INBOX)
        for step in steps:
            is_anew = step.source is not None and step in written
            self._confirm(step, digest_of(step.content) if is_anew else step.row.digest)
        self._notebook.forget(each for each, _ in spare)
        for folder, changed in before.items():
            self._leave_again(folder, changed)

    def _move(self, source: Row, target: Row) -> bool:
        """Move a file; return False if it has just gone."""
        try:
            os.rename(f"{self._root}/{source.path}", f"{self._root}/{target.path}")
        except FileNotFoundError:
            return False
        return True

    def _put_away(self, each: Row, right: Row) -> None:
        """Remove a duplicate file of a copy. If another program wrote it and its content differs, move it beside the
        first file instead."""
        path = f"{self._root}/{each.path}"
        with suppress(FileNotFoundError):
            if each.is_ours or each.digest == right.digest:
                os.unlink(path)
            else:
                os.rename(path, f"{self._root}/{right.folder}/{self._free_name(right.folder, each.name)}")

    def _confirm(self, step: _Step, digest: str) -> None:
        try:
            stamp = stamp_of(os.lstat(f"{self._root}/{step.row.path}"))
        except FileNotFoundError:
            stamp = _TAKEN
        self._notebook.put([step.row._replace(stamp=stamp, digest=digest)])
        if step.earlier:
            forget_elsewhere(self._root, self._notebook, step.row)

    def _times(self, steps: Sequence[_Step], spare: Sequence[tuple[Row, Row]]) -> Mapping[str, int]:
        """Return the folders that are about to change, each with the time of its last change."""
        rows = [step.row for step in steps]
        rows += [step.source for step in steps if step.source is not None]
        rows += [each for each, _ in spare]
        return {folder: time_of(f"{self._root}/{folder}") for folder in {each.folder for each in rows}}

    def _leave_again(self, folder: str, before: int) -> None:
        """Update the mark of a folder that was unchanged before our own change, as far as its time tells."""
        mark = self._notebook.inboxes().get(folder) or FolderMark(self._notebook.folder(folder)[0])
        if mark.mtime == before != UNSEEN:
            self._notebook.leave_again(folder, mark_after(mark, time_of(f"{self._root}/{folder}")))


def _is_unique(file_id: str) -> bool:
    """Tell whether an id has our form, so that no two messages have it. Foreign programs may use an id repeatedly."""
    try:
        parse_message_id(file_id)
    except Invalid:
        return False
    return True


def _id_in(layout: Layout, content: bytes) -> str | None:
    from covey.core.formats.folder_files import paper  # imported late because it is seldom needed

    try:
        return paper(layout, content, "").id
    except Invalid:
        return None
