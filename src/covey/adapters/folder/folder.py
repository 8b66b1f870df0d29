"""The shared folder on a disk, for the calling thread: nothing here suspends, except waiting for changes."""

# Light to import: commands that only read use this module, and mostly find nothing new.

from _thread import allocate_lock
from collections.abc import AsyncGenerator, AsyncIterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from typing import NamedTuple

import covey.ports as ports
from covey.adapters.folder.atomic import BackgroundWorker, CommitGate, InlineWorker, OpenCommitGate
from covey.adapters.folder.disk_layout import MANIFEST
from covey.adapters.folder.entries import FolderMark, are_left, is_usable, shown
from covey.adapters.folder.notebook.database import NOTEBOOK, inode_of
from covey.adapters.folder.notebook.notebook import Notebook
from covey.adapters.folder.notebook.records import (
    ASIDES_AT_ONCE,
    DEEP,
    POSITION,
    REGISTRY_STAMP,
    SetAside,
    is_due,
    is_still,
    registry_stamp,
)
from covey.core.errors import CoveyError, StoreClosed
from covey.core.formats.layout import Layout
from covey.core.late import late
from covey.core.store_url import STORE_FOLDER


class _FolderState(NamedTuple):
    """The state of the folder after the last visit, as far as this process knows. The record is immutable, so that any
    thread may read it."""

    notebook: int
    """The inode of the notebook."""
    changes: int
    """The version of the notebook: a number that changes when another connection writes."""
    is_seen: bool
    folders: Mapping[str, FolderMark]
    asides: Sequence[SetAside]
    owing: Sequence[str]
    registry: str
    deep_at: str
    position: int


class FilesFolder:
    """`Folder`. One thread at a time makes visits; any thread may call `has_news` meanwhile."""

    def __init__(
        self, path: str, layout: Layout, beside: BackgroundWorker | None = None, gate: CommitGate | None = None
    ) -> None:
        """`path` must have a folder .covey. Files appear only after the `gate` has opened. Without a worker `beside`,
        the calling thread does all the waiting."""
        self._beside = beside or InlineWorker()
        self._gate = gate or OpenCommitGate()
        self._root = path
        self._layout = layout
        self._home = f"{path}/{STORE_FOLDER}"
        self._notebook: Notebook | None = None
        self._left: _FolderState | None = None
        self._using = allocate_lock()
        """Held while a thread uses the notebook."""
        self._is_closed = False

    @property
    def layout(self) -> Layout:
        return self._layout

    @property
    def position(self) -> int:
        left = self._left
        return -1 if left is None else left.position

    def has_news(self) -> bool:
        left = self._left
        if left is not None and self._is_as(left):
            return False
        # Another process may have made the visit already. If a thread of ours uses the notebook, there is no need to
        # wait for that thread.
        if not self._using.acquire(blocking=False):
            return True
        try:
            notebook = self._open()
            if left is not None and notebook.refresh() == left.changes:
                return True
            notebook.refresh()
            left = self._left = self._how_left(notebook)
        except (CoveyError, OSError):
            return True  # a visit raises the error
        finally:
            self._using.release()
        return not self._is_as(left)

    @asynccontextmanager
    async def _visiting(self, limit_s: float) -> AsyncGenerator["ports.Visit"]:
        from covey.adapters.folder.entries import explained
        from covey.adapters.folder.locks import take_turn
        from covey.adapters.folder.visit import FilesVisit

        if self._is_closed:
            raise StoreClosed
        with explained(self._home):
            turn = take_turn(f"{self._home}/mirror.lock", limit_s)
        try:
            with self._using:
                notebook = self._open()
                version = notebook.refresh()

                def is_left() -> bool:
                    left = self._left
                    return left is not None and left.changes == version and self._is_as(left)

                def leave() -> None:
                    self._left = self._how_left(notebook)

                waits = self._beside, self._gate
                visit = FilesVisit(self._root, self._layout, notebook, turn, self._manifest, *waits, is_left, leave)
                try:
                    if visit.begin():
                        self._left = None
                    yield visit
                    visit.end()
                except BaseException:
                    self._left = None  # the state is unknown: the next visit looks
                    raise
                finally:
                    notebook.let_go()
                    with suppress(CoveyError, OSError):
                        self._beside.end()  # if the visit has failed, its own error is raised
        finally:
            turn.end()

    @late
    def _manifest(self):
        from covey.adapters.folder.manifest import OWN_LOCK, Manifest

        return Manifest(f"{self._root}/{MANIFEST}", f"{self._home}/{OWN_LOCK}")

    def visit(self, limit_s: float) -> AbstractAsyncContextManager["ports.Visit"]:
        return self._visiting(limit_s)

    async def setbacks(self) -> Sequence["ports.Setback"]:
        from covey.ports.folder import Setback

        with self._using:
            asides = self._open().asides()
        found = (Setback(shown(aside.path), aside.problem) for aside in asides if is_still(self._root, aside))
        return sorted(found)

    def changes(self) -> AbstractAsyncContextManager[AsyncIterator[None]]:
        from covey.adapters.folder.scan.watch import watching  # imported late because it imports asyncio

        return watching(self._root, self._layout, self.has_news)

    async def close(self) -> None:
        with self._using:
            self._is_closed = True
            if self._notebook is not None:
                self._notebook.close()
                self._notebook = None

    def _open(self) -> Notebook:
        if self._is_closed:
            raise StoreClosed
        if self._notebook is not None and not self._notebook.is_current:
            self._notebook.close()
            self._notebook = self._left = None
        if self._notebook is None:
            self._notebook = Notebook(f"{self._home}/{NOTEBOOK}")
        return self._notebook

    def _how_left(self, notebook: Notebook) -> _FolderState:
        folders = notebook.inboxes()
        return _FolderState(
            notebook.inode,
            notebook.version,
            bool(folders),
            folders,
            notebook.asides()[:ASIDES_AT_ONCE],
            sorted({row.folder for row in notebook.owed()}),
            notebook.mark(REGISTRY_STAMP),
            notebook.mark(DEEP),
            int(notebook.mark(POSITION) or "0"),
        )

    def _is_as(self, left: _FolderState) -> bool:
        return (
            left.is_seen
            and not is_due(left.deep_at)
            and are_left(self._root, left.folders)
            and all(is_still(self._root, aside) for aside in left.asides)
            and not any(is_usable(self._root, folder, is_made=False) for folder in left.owing)
            and (self._layout is not Layout.MAILBOX or registry_stamp(self._root) == left.registry)
            and inode_of(f"{self._home}/{NOTEBOOK}") == left.notebook
        )
