"""Care of a shared folder: its checkup, and the target of a restore.

The checkup finds files that can't be used, missing files, and leftovers of killed writers.
"""

import os
from collections import defaultdict
from collections.abc import AsyncGenerator, Collection, Iterable, Iterator, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager, closing, suppress
from typing import Final, NamedTuple, TypeVar

from covey.adapters.folder import atomic
from covey.adapters.folder.disk_layout import HOME, MANIFEST, folder_of
from covey.adapters.folder.entries import EntryFault, FileContent, digest_of, is_file, read, shown
from covey.adapters.folder.locks import break_stale, is_stale
from covey.adapters.folder.mailboxes import BROKEN, REGISTRY, RegistryFile
from covey.adapters.folder.manifest import LOCK, OWN_LOCK, is_unusable, torn_lines
from covey.adapters.folder.notebook.database import NOTEBOOK, is_damaged, throw_away
from covey.adapters.folder.notebook.notebook import Notebook
from covey.adapters.folder.notebook.records import Row, SetAside
from covey.adapters.folder.scan.scan import FolderScan
from covey.core.care.diagnoses_folder import (
    FOLDER_FILE_CHANGED,
    FOLDER_FILE_LARGE,
    FOLDER_FILE_LINK,
    FOLDER_FILE_MISNAMED,
    FOLDER_FILE_MISSING,
    FOLDER_FILE_SPECIAL,
    FOLDER_FILE_STRAY,
    FOLDER_FILE_TWICE,
    FOLDER_FILE_UNPARSED,
    FOLDER_FILE_UNREADABLE,
    FOLDER_HINDERED,
    FOLDER_LEFTOVERS,
    FOLDER_UNUSABLE,
    MANIFEST_LOCK_STALE,
    MANIFEST_TORN,
    MANIFEST_UNUSABLE,
    NOTEBOOK_DAMAGED,
    REGISTRY_BROKEN,
)
from covey.core.care.finding import Area, Diagnosis, Examination, Finding
from covey.core.errors import CoveyError, Invalid, StoreReadOnly
from covey.core.formats.folder_files import paper
from covey.core.formats.layout import Layout
from covey.core.identity import Identity
from covey.core.reporting import counted
from covey.core.store_url import STORE_FOLDER
from covey.ports.care import PlaceClaim, ProgressCallback, RestoreTarget, Snapshot
from covey.ports.folder import ArrivedFile
from covey.ports.store import Operation, Store


class DigestComparison(NamedTuple):
    changed: Sequence[str]
    """Paths of files whose content has changed."""
    twice: Sequence[str]
    """Ids that several files of other programs share, each with the paths of these files."""


def compare(root: str, layout: Layout, rows: Iterable[Row]) -> DigestComparison:
    """Read every known file, and compare its digest with the remembered one."""
    changed: list[str] = []
    by_id: defaultdict[str, list[str]] = defaultdict(list)
    for row in rows:
        found = read(f"{root}/{row.path}")
        if not isinstance(found, FileContent):
            continue  # it is gone, or was replaced by something that other findings report
        if digest_of(found.content) != row.digest:
            changed.append(row.path)
        elif not row.is_ours and (file_id := _id_in(layout, found.content, row.owner)):
            by_id[file_id].append(row.path)
    twice = [f"{file_id}: {', '.join(paths)}" for file_id, paths in sorted(by_id.items()) if _are_two(paths)]
    return DigestComparison(changed, twice)


def _are_two(paths: Collection[str]) -> bool:
    return len(paths) > 1


def _id_in(layout: Layout, content: bytes, owner: str) -> str:
    try:
        return paper(layout, content, owner).id
    except Invalid:
        return ""


_AT_ONCE: Final = 1000
_FAULTS: Final[Sequence[tuple[EntryFault, Diagnosis, str, str]]] = (
    (EntryFault.HINDERED, FOLDER_HINDERED, "folder that can't be used", "folders that can't be used"),
    (EntryFault.CONTENT, FOLDER_FILE_UNPARSED, "file that is no message", "files that are no messages"),
    (EntryFault.LARGE, FOLDER_FILE_LARGE, "file that is too large", "files that are too large"),
    (EntryFault.UNREADABLE, FOLDER_FILE_UNREADABLE, "file that can't be read", "files that can't be read"),
    (EntryFault.LINK, FOLDER_FILE_LINK, "symbolic link", "symbolic links"),
    (EntryFault.SPECIAL, FOLDER_FILE_SPECIAL, "pipe, socket or device", "pipes, sockets or devices"),
    (EntryFault.NAME, FOLDER_FILE_MISNAMED, "name that can't be used", "names that can't be used"),
    (EntryFault.STRAY, FOLDER_FILE_STRAY, "entry that is no message", "entries that are no messages"),
)
"""Each fault with its diagnosis, and its name in the singular and the plural."""


class SharedFolderCheckup:
    """`Checkup` of a shared folder.

    It scans like the next visit, with a copy of the notebook, and accepts no messages.
    """

    area = Area.FOLDER

    def __init__(self, path: str, layout: Layout) -> None:
        self._root = path
        self._layout = layout
        self._notebook = f"{path}/{HOME}/{NOTEBOOK}"

    async def examine(self, *, thorough: bool, tell: ProgressCallback) -> Examination:
        del tell
        if not os.access(self._root, os.R_OK | os.W_OK | os.X_OK):
            return Examination(self.area, "", (Finding(FOLDER_UNUSABLE, f"{self._root} can't be used"),))
        findings: list[Finding] = []
        is_usable = True
        if is_damaged(self._notebook):
            findings.append(Finding(NOTEBOOK_DAMAGED, f"{self._notebook} is damaged"))
            is_usable = False
        with closing(Notebook.copied(self._notebook if is_usable else None)) as notebook:
            count = notebook.count()
            compared = compare(self._root, self._layout, notebook.standing() if thorough else ())
            findings += self._seen(notebook, compared.changed)
            findings += _comparison(compared)
        findings += self._files_beside()
        return Examination(self.area, f"{counted(count, 'file')} of messages, {self._layout} layout", tuple(findings))

    async def mend(self, findings: Sequence[Finding], actor: Identity) -> None:
        for finding in findings:
            if finding.diagnosis is MANIFEST_LOCK_STALE:
                break_stale(self._lock, f"{self._root}/{HOME}/{OWN_LOCK}")
            elif finding.diagnosis is NOTEBOOK_DAMAGED:
                throw_away(self._notebook)
            elif finding.diagnosis is FOLDER_LEFTOVERS:
                for leftover in finding.items:
                    self._remove(leftover)

    @property
    def _lock(self) -> str:
        return f"{self._root}/{MANIFEST}{LOCK}"

    def _seen(self, notebook: Notebook, changed: Sequence[str]) -> Iterator[Finding]:
        looking = FolderScan(self._root, self._layout, notebook, is_tidy=False)
        unparsed: list[str] = []
        try:
            sighting = looking.look(_AT_ONCE)
            unparsed = [problem for arrived in sighting.arrived if (problem := self._problem(arrived)) is not None]
            unparsed = [problem for problem in unparsed if problem.partition(": ")[0] not in changed]
        except (CoveyError, OSError) as error:
            yield Finding(FOLDER_UNUSABLE, f"{self._root} can't be examined: {error}")
        asides = [aside for aside in notebook.asides() if os.path.lexists(f"{self._root}/{aside.path}")]
        for fault, diagnosis, one, many in _FAULTS:
            items = [_item(aside) for aside in asides if aside.kind == fault and aside.path not in changed]
            if diagnosis is FOLDER_FILE_UNPARSED:
                items += unparsed
            if items:
                yield Finding(diagnosis, counted(len(items), one, many), tuple(sorted(items)))
        missing = sorted(row.path for row in notebook.owed() if not is_file(f"{self._root}/{row.path}"))
        if missing:
            yield Finding(FOLDER_FILE_MISSING, f"{counted(len(missing), 'file')} missing", tuple(missing))
        if leftovers := sorted(looking.leftovers):
            yield Finding(FOLDER_LEFTOVERS, counted(len(leftovers), "temporary file"), tuple(leftovers))

    def _files_beside(self) -> Iterator[Finding]:
        if self._layout is Layout.DIALOGUE:
            if is_unusable(f"{self._root}/{MANIFEST}"):
                yield Finding(MANIFEST_UNUSABLE, f"{MANIFEST} can't be added to")
            if count := torn_lines(f"{self._root}/{MANIFEST}"):
                yield Finding(MANIFEST_TORN, f"{counted(count, 'line')} of {MANIFEST} can't be read")
            if is_stale(self._lock):
                yield Finding(MANIFEST_LOCK_STALE, f"{MANIFEST}{LOCK} is held by no process")
            return
        broken = [name for name in sorted(os.listdir(self._root)) if name.startswith(f"{REGISTRY}{BROKEN}")]
        if os.path.lexists(f"{self._root}/{REGISTRY}") and RegistryFile(self._root).is_broken():
            broken.insert(0, REGISTRY)
        if broken:
            yield Finding(REGISTRY_BROKEN, counted(len(broken), "broken file"), tuple(broken))

    def _problem(self, arrived: ArrivedFile) -> str | None:
        """Return the reason why a new file will be set aside; None if it will be accepted."""
        try:
            paper(self._layout, arrived.content, arrived.spot.owner)
        except Invalid as error:
            return f"{folder_of(self._layout, arrived.spot)}/{arrived.spot.name}: {error.message}"
        return None

    def _remove(self, leftover: str) -> None:
        path = f"{self._root}/{leftover}"
        if atomic.is_temporary(os.path.basename(path)):
            try:
                with suppress(FileNotFoundError):
                    os.unlink(path)
            except OSError as error:
                raise StoreReadOnly(path, error.strerror or str(error)) from error


def _comparison(found: DigestComparison) -> Iterator[Finding]:
    if found.changed:
        count = counted(len(found.changed), "file that was changed", "files that were changed")
        yield Finding(FOLDER_FILE_CHANGED, count, tuple(found.changed))
    if found.twice:
        count = counted(len(found.twice), "id that several files have", "ids that several files have")
        yield Finding(FOLDER_FILE_TWICE, count, tuple(found.twice))


def _item(aside: SetAside) -> str:
    path = shown(aside.path)
    return f"{path}: {aside.problem}" if aside.kind == EntryFault.CONTENT else path


T = TypeVar("T")


class SharedRestoreTarget:
    """`RestoreTarget` around that of the ledger. After a restore all files in the folder are examined again. Files of
    messages in the backup are recognised. Files of later messages are accepted as those of foreign programs are."""

    def __init__(self, place: RestoreTarget, root: str) -> None:
        self._place = place
        self._notebook = os.path.join(root, STORE_FOLDER, NOTEBOOK)

    def claim(self, *, replace: bool) -> AbstractAsyncContextManager[PlaceClaim]:
        return self._claim(replace)

    @asynccontextmanager
    async def _claim(self, replace: bool) -> AsyncGenerator[PlaceClaim]:
        async with self._place.claim(replace=replace) as claim:
            yield _SharedClaim(claim, self._notebook)


class _SharedClaim:
    def __init__(self, claim: PlaceClaim, notebook: str) -> None:
        self._claim = claim
        self._notebook = notebook

    @property
    def name(self) -> str:
        return self._claim.name

    @property
    def is_empty(self) -> bool:
        return self._claim.is_empty

    @property
    def staging_file(self) -> str:
        return self._claim.staging_file

    async def read(self, operation: Operation[T]) -> T:
        return await self._claim.read(operation)

    async def staged(self) -> tuple[Store, Snapshot]:
        return await self._claim.staged()

    async def install(self, tell: ProgressCallback) -> None:
        # First: a process that is killed in between then only causes a needless look at all files.
        throw_away(self._notebook)
        await self._claim.install(tell)
