"""A visit to the folder, in the calling thread: nothing here suspends.

Foreign programs open a file part by its path, so each copy of a message has a snapshot of its own.
"""

import json
import os
from collections.abc import Callable, Mapping, Sequence
from typing import Final

from covey.adapters.folder import atomic
from covey.adapters.folder.atomic import BackgroundWorker, CommitGate
from covey.adapters.folder.disk_layout import MANIFEST, folder_of, suffix_of
from covey.adapters.folder.entries import (
    EntryFault,
    FileContent,
    aside_stamp,
    digest_of,
    explained,
    is_file,
    is_usable,
    mark_after,
    read,
    stamp_of,
    stands,
    time_of,
)
from covey.adapters.folder.file_sync import FileSync
from covey.adapters.folder.locks import FolderTurn
from covey.adapters.folder.mailboxes import RegistryFile
from covey.adapters.folder.manifest import Manifest
from covey.adapters.folder.notebook.notebook import Notebook
from covey.adapters.folder.notebook.records import (
    DEEP,
    MANIFEST_POSITION,
    MANIFEST_SIZE,
    POSITION,
    REGISTRY_STAMP,
    Row,
    SetAside,
    registry_stamp,
    row,
)
from covey.adapters.folder.scan.places import forget_elsewhere, owe
from covey.adapters.folder.scan.scan import FolderScan
from covey.core.formats.layout import FilePlace, KnownFile, Layout, is_folder_name
from covey.core.json import Json, to_json
from covey.core.names import AgentName, MessageId
from covey.ports.folder import FolderChanges, WantedFile

FILES: Final = "files"
"""The folder beside an agent's inbox. It has one folder for each message with file parts."""
NAMELESS: Final = "file"
_MODE: Final = 0o400


def _keep_snapshot(root: str, owner: str, file_id: str, name: str, content: bytes) -> str | None:
    """Write a snapshot, unless it exists, and return its path; None if its folder can't be used."""
    name = name if is_folder_name(name) else NAMELESS
    steps = (owner, FILES, file_id)
    if not all(map(is_folder_name, steps)) or not is_usable(root, "/".join(steps), is_made=False):
        return None
    path = f"{root}/{owner}/{FILES}/{file_id}/{name}"
    if not os.path.lexists(path):
        atomic.make_folders(root, *steps)
        atomic.write(path, content, _MODE)
    return os.path.abspath(path)


def _discard_snapshots(root: str, owner: str, file_id: str) -> None:
    """Remove the snapshots of a message copy."""
    folder = f"{owner}/{FILES}/{file_id}"
    if all(map(is_folder_name, (owner, file_id))) and stands(root, folder):
        import shutil  # imported late because it takes time to load, and few messages are pruned

        shutil.rmtree(f"{root}/{folder}", ignore_errors=True)


class FilesVisit:
    """`Visit` for the holder of the turn."""

    def __init__(
        self,
        root: str,
        layout: Layout,
        notebook: Notebook,
        turn: FolderTurn,
        manifest: Manifest,
        beside: BackgroundWorker,
        gate: CommitGate,
        is_left: Callable[[], bool],
        leave: Callable[[], None],
    ) -> None:
        """`is_left` tells whether the folder is unchanged. `leave` is called when the notebook is up to date, before
        the wake-ups are sent whose receivers will then look at the folder."""
        self._root = root
        self._layout = layout
        self._notebook = notebook
        self._turn = turn
        self._beside = beside
        self._gate = gate
        self._later: atomic.FolderSync | None = None
        self._remember: Callable[[], None] | None = None
        self._is_left = is_left
        self._leave = leave
        self._is_quiet = False
        self._looked: FolderScan | None = None
        self._manifest = manifest
        self._registry_told: str | None = None
        self._marks: dict[str, str] = {}
        """Marks that are stored at the end of the visit. If they are lost, their work is repeated with the same
        result."""
        self._position = int(notebook.mark(POSITION) or "0")
        self._manifest_position = int(notebook.mark(MANIFEST_POSITION) or "0")
        self._manifest_size = int(notebook.mark(MANIFEST_SIZE) or "0")
        if self._manifest.size() < self._manifest_size:
            # The end of the manifest was lost in a power cut, or another program made a new manifest: missing lines are
            # appended again.
            self._manifest_position = self._manifest_size = 0

    @property
    def position(self) -> int:
        return self._position

    @property
    def manifest_position(self) -> int:
        return self._manifest_position

    async def look(self, limit: int) -> FolderChanges:
        self._settle()
        if self._looked is None and self._is_left():
            self._is_quiet = True
            self._notebook.hold()  # this visit finds nothing that other processes must know before its end
            return FolderChanges([], [], None, [])
        self._notebook.let_go()
        with explained(self._root):
            sighting = self._looking.look(limit)
            if self._layout is Layout.MAILBOX:
                stamp = registry_stamp(self._root)
                if stamp != self._notebook.mark(REGISTRY_STAMP):
                    self._registry_told = stamp
                    sighting = sighting._replace(registry=self._entries())
        return sighting

    async def note(self, known: Sequence[KnownFile], digests: Mapping[FilePlace, str]) -> None:
        self._settle()
        with explained(self._root), self._notebook.writing():
            for each in known:
                self._note(each, digests.get(each.spot))

    async def set_aside(self, spot: FilePlace, digest: str, problem: str) -> None:
        self._settle()
        folder = folder_of(self._layout, spot)
        del digest  # the stamp is enough, and can be had without reading the file
        with explained(self._root):
            stamps = self._looking.stamps.get((folder, spot.name))
            stamp = stamps.aside if stamps is not None else self._aside_stamp(folder, spot.name)
            self._notebook.put_aside(SetAside(folder, spot.name, EntryFault.CONTENT, stamp, problem))
        self._looking.settled(folder, spot.name)

    async def bring(self, sheets: Sequence[WantedFile]) -> None:
        self._settle()
        with explained(self._root):
            is_open = self._looked is not None and self._looked.is_open
            told = [each for sheet in sheets for each in self._rows(sheet.known)] if is_open else ()
            if self._looked is not None:
                self._looked.leave()
            FileSync(
                self._root, self._layout, self._notebook, self, is_quiet=self._looked is None and self._is_quiet
            ).bring(sheets)
        for each in told:
            self._looking.settled(each.folder, each.name)

    async def keep_file(self, owner: str, file_id: str, name: str, content: bytes) -> str | None:
        with explained(self._root):
            return _keep_snapshot(self._root, owner, file_id, name, content)

    async def discard(self, known: Sequence[KnownFile]) -> None:
        self._settle()
        for one in known:
            _discard_snapshots(self._root, one.spot.owner, one.file_id)
        rows = [each for one in known for each in self._rows(one)]
        with explained(self._root):
            self.confirmed()
            for each in rows:
                if each.stamp and is_file(f"{self._root}/{each.path}"):
                    os.unlink(f"{self._root}/{each.path}")
            folders = dict.fromkeys(each.folder for each in rows if each.stamp)
            atomic.sync_folders(f"{self._root}/{folder}" for folder in folders if stands(self._root, folder))
            self._notebook.forget(rows)
        for each in rows:
            self._looking.settled(each.folder, each.name)

    async def known(self, file_id: str) -> Sequence[KnownFile]:
        self._settle()
        return [each.known for each in self._notebook.by_id(file_id)]

    async def copies(self, message_id: MessageId) -> Sequence[KnownFile]:
        self._settle()
        return [each.known for each in self._notebook.by_message(message_id)]

    async def messages(self, after: str, limit: int) -> Sequence[MessageId]:
        self._settle()
        return self._notebook.messages(after, limit)

    async def agent_called(self, name: str) -> AgentName | None:
        return self._notebook.agent_called(name)

    async def call(self, agent: AgentName, name: str) -> None:
        self._notebook.call(agent, name)

    async def owner_of(self, agent: AgentName) -> str:
        name = self._notebook.name_of(agent)
        return name if name is not None and is_folder_name(name) else agent

    async def advance(self, position: int) -> None:
        self._marks[POSITION] = str(position)
        self._position = position

    async def append(self, lines: Sequence[tuple[int, str]], position: int) -> bool:
        size = self._manifest_size
        if lines:
            self.confirmed()
            with explained(f"{self._root}/{MANIFEST}"):
                after = self._manifest.append([line for _, line in lines], size)
            if after is None:
                return False
            size = after
        self._marks |= {MANIFEST_POSITION: str(position), MANIFEST_SIZE: str(size)}
        self._manifest_position, self._manifest_size = position, size
        return True

    async def registry(self) -> Mapping[str, Json]:
        return self._entries() if self._layout is Layout.MAILBOX else {}

    async def register(self, entries: Mapping[str, Mapping[str, Json]]) -> None:
        self._settle()
        if self._layout is not Layout.MAILBOX or not entries:
            return
        self.confirmed()
        if self._looked is not None:
            self._looked.leave()
        before, changed = registry_stamp(self._root), time_of(self._root)
        RegistryFile(self._root).put(entries)
        if before in (self._notebook.mark(REGISTRY_STAMP), self._registry_told):
            self._registry_told = None
            self._notebook.put_marks({REGISTRY_STAMP: registry_stamp(self._root)})
        mark = self._notebook.inboxes().get("")
        if mark is not None and mark.mtime == changed:
            self._notebook.leave_again("", mark_after(mark, time_of(self._root)))

    def begin(self) -> bool:
        """Recover the intent of a visitor that was killed, and tell whether there was one."""
        written = self._turn.read()
        if written is not None:
            try:
                superseded, owed = ([Row(*each) for each in rows] for rows in json.loads(written))
            except (ValueError, TypeError):  # a record of another version: examine all files
                self._notebook.put_marks({DEEP: ""})
            else:
                owe(self._notebook, superseded, owed)
        self._turn.clear()
        return written is not None

    def end(self) -> None:
        """Store the state of the folder in the notebook. This is not called if a visit fails: then the next visit
        reports the same changes again."""
        with explained(self._root):
            if self._later is None:
                self._write_down()
                return
            self._gate.end()
            self._later.prepare()
            # All changes of the folder are made by now: a further one would have to wait for the disk. The notebook
            # does not wait for the disk.
            self._beside.begin(self._write_down)
            try:
                self._wait_now()
            finally:
                self._beside.end()

    def _write_down(self) -> None:
        with self._notebook.writing():
            self._settle()
            if self._looked is not None:
                self._looked.leave()
                self._notebook.own(self._looked.owners)
            if self._registry_told is not None:
                self._marks[REGISTRY_STAMP] = self._registry_told
            self._notebook.put_marks(self._marks)
        self._notebook.flush()
        self._turn.clear()
        self._leave()
        self._gate.tell()

    # The waits of `FileSync`.

    def intend(self, superseded: Sequence[Row], owed: Sequence[Row]) -> None:
        self._notebook.flush()
        self._turn.write(to_json([superseded, owed]).encode())

    def confirming(self) -> None:
        self._gate.begin()

    def confirmed(self) -> None:
        self._gate.end()

    def afterwards(self, remember: Callable[[], None]) -> None:
        self._settle()
        self._remember = remember

    def _settle(self) -> None:
        """Store the synchronised files in the notebook. That is deferred until the notebook is queried, or until the
        visit waits for the disk anyway."""
        remember, self._remember = self._remember, None
        if remember is not None:
            remember()

    def later(self, wait: atomic.FolderSync) -> None:
        self._wait_now()
        self._later = wait

    def _wait_now(self) -> None:
        wait, self._later = self._later, None
        if wait is not None:
            wait.wait()

    @property
    def _looking(self) -> FolderScan:
        if self._looked is None:
            self._looked = FolderScan(self._root, self._layout, self._notebook)
        return self._looked

    def _entries(self) -> Mapping[str, Json]:
        return RegistryFile(self._root).entries()

    def _rows(self, known: KnownFile) -> Sequence[Row]:
        return self._notebook.of_agent(known.message_id, known.agent)

    def _note(self, known: KnownFile, digest: str | None) -> None:
        folder = folder_of(self._layout, known.spot)
        name = known.spot.name
        earlier = self._rows(known)
        stamps = self._looking.stamps.get((folder, name))
        stamp = stamps.file if stamps is not None else self._stamp(folder, name)
        if digest is None:
            digest = next((each.digest for each in earlier), None) or self._digest(folder, name)
        self._make_way(folder, name, known)
        new = row(known, folder, digest, stamp)
        self._notebook.put([new])
        self._notebook.forget_aside(folder, name)
        forget_elsewhere(self._root, self._notebook, new)
        for each in (new, *earlier):
            self._looking.settled(each.folder, each.name)

    def _make_way(self, folder: str, name: str, known: KnownFile) -> None:
        """Record a file as owed if another program has overwritten it with this one."""
        other = self._notebook.at(folder, name)
        if other is None or (other.message_id, other.agent) == (known.message_id, known.agent):
            return
        suffix = suffix_of(self._layout)
        count = 2
        while self._notebook.at(folder, f"{name.removesuffix(suffix)}-{count}{suffix}") is not None:
            count += 1
        self._notebook.put([other._replace(name=f"{name.removesuffix(suffix)}-{count}{suffix}", stamp="")])

    def _stamp(self, folder: str, name: str) -> str:
        try:
            return stamp_of(os.lstat(f"{self._root}/{folder}/{name}"))
        except OSError:
            return ""

    def _aside_stamp(self, folder: str, name: str) -> str:
        try:
            return aside_stamp(os.lstat(f"{self._root}/{folder}/{name}"))
        except OSError:
            return ""

    def _digest(self, folder: str, name: str) -> str:
        found = read(f"{self._root}/{folder}/{name}")
        return digest_of(found.content) if isinstance(found, FileContent) else ""
