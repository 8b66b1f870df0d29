"""Care of a space beneath its records: what examines, cleans, copies, backs up, restores and salvages it."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple, Protocol

from covey.core.reporting import Report, report_nothing
from covey.core.store_url import StoreUrl
from covey.ports.backup import Archives, Pages, RestoreTarget, Snapshots
from covey.ports.blobs import Blobs, BlobUpkeep
from covey.ports.checkup import Checkup, Tell
from covey.ports.clock import Clock
from covey.ports.directory import Liveness
from covey.ports.store import Store
from covey.ports.views import Views


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

    def salvage(self, url: StoreUrl, target: str, tell: Tell) -> Mapping[str, Salvaged]:
        """Copy all readable records of a damaged store into a new one, the file `target`; return the counts of each
        table."""
        ...
