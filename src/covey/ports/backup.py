"""Backups: the records of a space as a file, an archive for it and the blobs, and the place that it returns to."""

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
    """Of the newest event: all that happened up to it is there, and nothing that happened later."""
    counts: Mapping[str, int]
    """How many records of each kind."""
    digests: Sequence[str]
    """The blobs that its messages refer to."""


class Snapshots(Protocol):
    """Where snapshots come from."""

    async def take(self, file: str, tell: Tell) -> Snapshot:
        """Copy the records to a file that is empty, while others go on using the space. What this returns was read from
        the file, and is what was copied; where it is not, or the file is not whole, StoreCorrupt."""
        ...


class Contents(NamedTuple):
    """What an archive says of itself."""

    made_at: datetime
    position: int
    counts: Mapping[str, int]


class NewArchive(Protocol):
    """An archive in the making. It has its name only when its context was left without an error."""

    @property
    def records_file(self) -> str:
        """An empty file for a snapshot, gone when the context is left."""
        ...

    def add_records(self, contents: Contents) -> None:
        """Take in the snapshot. To be called first, and once."""
        ...

    def add_blob(self, digest: str, content: bytes) -> None:
        """Take in one blob."""
        ...

    def finish(self) -> None:
        """Note that nothing is missing. Without it, what was written is no archive."""
        ...


class Archive(Protocol):
    """An archive that is there. Everything may raise BackupUnusable."""

    @property
    def contents(self) -> Contents: ...

    def check(self, tell: Tell) -> None:
        """Read all of it, and see that it is whole; afterwards it is read through."""
        ...

    def extract_records(self, file: str, tell: Tell) -> None:
        """Write the snapshot to a file, and check that it is what was put in."""
        ...

    def blobs(self) -> Iterator[bytes]:
        """Go through the blobs, each checked; after the last one, check that the archive was finished."""
        ...


class Archives(Protocol):
    """Backups as files."""

    def create(self, file: str, *, replace: bool) -> AbstractContextManager[NewArchive]:
        """Return a new archive. WouldOverwrite where the file is there, unless it is to be replaced. What a killed
        process has left of one is cleaned up by the next that writes to the same file."""
        ...

    def open(self, file: str) -> AbstractContextManager[Archive]:
        """Return the archive in a file; BackupUnusable where there is none."""
        ...


class Claim(Protocol):
    """A place that nobody else can use meanwhile."""

    @property
    def name(self) -> str:
        """How people call it."""
        ...

    @property
    def is_empty(self) -> bool:
        """Whether nothing has happened in the space there, or there is none."""
        ...

    @property
    def staging_file(self) -> str:
        """Where to put the snapshot that is to take the place, as a new file."""
        ...

    async def read(self, operation: Operation[T]) -> T:
        """Read the space that is there; only where it is not empty."""
        ...

    async def staged(self) -> tuple[Store, Snapshot]:
        """Open what was put into the staging file, brought up to date. BackupUnusable where it is not whole."""
        ...

    async def install(self, tell: Tell) -> None:
        """Let what was staged take the place, all at once: whoever dies in the middle leaves what was there."""
        ...


class Place(Protocol):
    """Where a space is, or may be."""

    def claim(self, *, replace: bool) -> AbstractAsyncContextManager[Claim]:
        """Return the place for oneself. SpaceInUse where another process has it open. Where something is there and is
        not to be replaced, WouldOverwrite. A damaged store that is to be replaced is kept under another name."""
        ...
