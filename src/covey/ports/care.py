"""Care of a space beneath its records: checkups with their repairs, snapshots, backups and their archives, the place to
restore to, and salvage."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, AbstractContextManager
from datetime import datetime
from typing import NamedTuple, Protocol, TypeVar

from covey.core.care.finding import Area, Examination, Finding
from covey.core.identity import Identity
from covey.core.reporting import Report, report_nothing
from covey.core.store_url import StoreUrl
from covey.ports.blobs import Blobs, BlobUpkeep
from covey.ports.clock import Clock
from covey.ports.directory import Liveness
from covey.ports.store import Operation, Store
from covey.ports.views import Views

ProgressCallback = Callable[[int, int | None], None]
"""A callback for the progress of a long call: the amount done, and the total or None."""


class Checkup(Protocol):
    """Examination and repair of one area, in the calling thread.

    Checkups below the records (files, sockets, the database as a file) also work on a store that can't be opened.
    """

    @property
    def area(self) -> Area: ...

    async def examine(self, *, thorough: bool, tell: ProgressCallback) -> Examination:
        """Examine the area, and change nothing. Damage is a finding and not an error. Slow checks are skipped unless
        `thorough` is true."""
        ...

    async def mend(self, findings: Sequence[Finding], actor: Identity) -> None:
        """Apply the remedies of these findings, as far as they still apply. A change of the records is journalled with
        its actor. Raise Unavailable if a remedy can't be applied."""
        ...


T = TypeVar("T")


class Snapshot(NamedTuple):
    """The records of a space at one moment, in a file."""

    position: int
    """The position of the newest event. The snapshot has everything up to it, and nothing later."""
    counts: Mapping[str, int]
    """The number of records of each kind."""
    digests: Sequence[str]
    """The blobs that the messages refer to."""


class Snapshots(Protocol):
    """The source of snapshots of one space."""

    async def take(self, file: str, tell: ProgressCallback) -> Snapshot:
        """Copy the records to an empty file, while other programs go on using the space. The returned snapshot is read
        from the file. Raise StoreCorrupt if the file is damaged or differs from the records that were copied."""
        ...


class ArchiveContents(NamedTuple):
    """The description in an archive of its contents."""

    made_at: datetime
    position: int
    counts: Mapping[str, int]


class NewArchive(Protocol):
    """An archive that is being written. It gets its name only when its context is left without an error."""

    @property
    def records_file(self) -> str:
        """The path of an empty file for a snapshot. The file is removed when the context is left."""
        ...

    def add_records(self, contents: ArchiveContents) -> None:
        """Add the snapshot in `records_file`. Call this first, and once."""
        ...

    def add_blob(self, digest: str, content: bytes) -> None:
        """Add one blob."""
        ...

    def finish(self) -> None:
        """Mark the archive as complete. Without this mark, the file is no archive."""
        ...


class Archive(Protocol):
    """An archive in a file. Any method may raise BackupUnusable."""

    @property
    def contents(self) -> ArchiveContents: ...

    def check(self, tell: ProgressCallback) -> None:
        """Read the whole archive, and check that it is complete. Afterwards, its content can't be read again."""
        ...

    def extract_records(self, file: str, tell: ProgressCallback) -> None:
        """Write the snapshot to a file, and check that it is the one that was added."""
        ...

    def blobs(self) -> Iterator[bytes]:
        """Yield the blobs, each checked. After the last one, check that the archive was finished."""
        ...


class Archives(Protocol):
    """Backups as files."""

    def create(self, file: str, *, replace: bool) -> AbstractContextManager[NewArchive]:
        """Return a new archive. Raise WouldOverwrite if the file exists, unless `replace` is true. The next writer to
        the same file removes the remains of a killed one."""
        ...

    def open(self, file: str) -> AbstractContextManager[Archive]:
        """Return the archive in a file. Raise BackupUnusable if there is none."""
        ...


class PlaceClaim(Protocol):
    """Exclusive use of a place."""

    @property
    def name(self) -> str:
        """The name of the place, for people."""
        ...

    @property
    def is_empty(self) -> bool:
        """True if there is no space at the place, or nothing has happened in it."""
        ...

    @property
    def staging_file(self) -> str:
        """The path at which to create the snapshot that is to be installed."""
        ...

    async def read(self, operation: Operation[T]) -> T:
        """Run an operation on the space at the place. Call this only if the place is not empty."""
        ...

    async def staged(self) -> tuple[Store, Snapshot]:
        """Open the snapshot in the staging file, migrated to the present schema. Raise BackupUnusable if it is
        damaged."""
        ...

    async def install(self, tell: ProgressCallback) -> None:
        """Replace the space at the place by the staged one, atomically: a process that dies meanwhile leaves the old
        one."""
        ...


class RestoreTarget(Protocol):
    """The place of a space, which may be empty."""

    def claim(self, *, replace: bool) -> AbstractAsyncContextManager[PlaceClaim]:
        """Return a claim on the place. Raise SpaceInUse if another process has the space open, and WouldOverwrite if
        there is a space and `replace` is false. A damaged store that is replaced is kept under another name."""
        ...


class Pages(Protocol):
    """The pages of a store's file. Removed records leave free pages. New records reuse them; the rest can be given back
    to the file system."""

    async def size(self) -> int:
        """Return the size of the records on the disk in bytes, free pages included."""
        ...

    async def give_back(self, limit: int) -> bool:
        """Give up to `limit` free pages back to the file system, in one short transaction. Tell whether there are
        more."""
        ...


class BackupPorts(NamedTuple):
    """The ports that a backup needs."""

    snapshots: Snapshots
    archives: Archives
    blobs: Blobs
    upkeep: BlobUpkeep
    clock: Clock


class RestorePorts(NamedTuple):
    """The ports that restoring a backup needs."""

    archives: Archives
    place: RestoreTarget
    blobs: Blobs
    liveness: Liveness
    clock: Clock


class UpkeepPorts(NamedTuple):
    """The ports that pruning needs to give back room on the disk."""

    blobs: BlobUpkeep
    pages: Pages


class Salvaged(NamedTuple):
    """The result of salvaging one table."""

    saved: int
    unreadable: int
    """Rows that were there and could not be read, or belong to a message that could not. On pages that are gone nobody
    knows how many there were."""


class Care(Protocol):
    """Looks after the spaces of one engine. Each method is given the URL of a space.

    Work that an engine can't do is Invalid, with a reason that names another way. Long work that has to come first is
    reported.
    """

    def checkups_beneath(self, url: StoreUrl) -> Sequence[Checkup]:
        """Return the checkups of everything beneath the records. They open nothing before they are asked to."""
        ...

    def checkups_beside(self, url: StoreUrl, store: Store) -> Sequence[Checkup]:
        """Return the checkups of what belongs to the records of an open store: the index, the contents of files."""
        ...

    def upkeep(self, url: StoreUrl) -> UpkeepPorts:
        """Return the ports for cleaning beneath the records: the contents of files, and the pages of the store."""
        ...

    def views(self, url: StoreUrl, report: Report = report_nothing) -> Views:
        """Return consistent views of the space at one moment, for exports and moves."""
        ...

    def backup(self, url: StoreUrl, report: Report = report_nothing) -> BackupPorts:
        """Return the ports that back up the space. A space that is not there is SpaceMissing."""
        ...

    def restore(self, url: StoreUrl) -> RestorePorts:
        """Return the ports that restore a backup to the place of the URL."""
        ...

    def salvage(self, url: StoreUrl, target: str, tell: ProgressCallback) -> Mapping[str, Salvaged]:
        """Copy all readable records of a damaged store into a new one, the file `target`; return the counts of each
        table."""
        ...
