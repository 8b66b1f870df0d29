"""Backups: snapshots of a space's records, archives of a snapshot with its blobs, and the place to restore to."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, AbstractContextManager
from datetime import datetime
from typing import NamedTuple, Protocol, TypeVar

from covey.ports.checkup import Tell
from covey.ports.store import Operation, Store

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

    async def take(self, file: str, tell: Tell) -> Snapshot:
        """Copy the records to an empty file, while other programs go on using the space. The returned snapshot is read
        from the file. Raise StoreCorrupt if the file is damaged or differs from the records that were copied."""
        ...


class Contents(NamedTuple):
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

    def add_records(self, contents: Contents) -> None:
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
    def contents(self) -> Contents: ...

    def check(self, tell: Tell) -> None:
        """Read the whole archive, and check that it is complete. Afterwards, its content can't be read again."""
        ...

    def extract_records(self, file: str, tell: Tell) -> None:
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


class Claim(Protocol):
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

    async def install(self, tell: Tell) -> None:
        """Replace the space at the place by the staged one, atomically: a process that dies meanwhile leaves the old
        one."""
        ...


class RestoreTarget(Protocol):
    """The place of a space, which may be empty."""

    def claim(self, *, replace: bool) -> AbstractAsyncContextManager[Claim]:
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
