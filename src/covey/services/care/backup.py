"""Backup: a consistent copy of a space, records and blobs, in one file, made while the space is in use."""

from collections.abc import Sequence
from typing import NamedTuple

from covey.core.errors import BlobMissing
from covey.ports.backup import Archives, Contents, Snapshots
from covey.ports.blobs import Blobs, BlobUpkeep
from covey.ports.checkup import Tell
from covey.ports.clock import Clock


class BackedUp(NamedTuple):
    contents: Contents
    blobs: int
    missing: Sequence[str]
    """The digests of blobs that were missing in the space, and so are missing in the backup."""


class Backup:
    def __init__(
        self, snapshots: Snapshots, archives: Archives, blobs: Blobs, upkeep: BlobUpkeep, clock: Clock
    ) -> None:
        self._snapshots = snapshots
        self._archives = archives
        self._blobs = blobs
        self._upkeep = upkeep
        self._clock = clock

    async def back_up(self, file: str, *, replace: bool, tell: Tell) -> BackedUp:
        """Write the whole space to a file. The file gets its name only when it is complete, verified and synced."""
        missing: list[str] = []
        # Hold pruning, so that every blob of the snapshot is still there when it is archived.
        with self._upkeep.hold(), self._archives.create(file, replace=replace) as archive:
            made_at = self._clock.now()
            snapshot = await self._snapshots.take(archive.records_file, tell)
            contents = Contents(made_at, snapshot.position, snapshot.counts)
            archive.add_records(contents)
            for done, digest in enumerate(snapshot.digests):
                tell(done, len(snapshot.digests))
                try:
                    content = await self._blobs.get(digest)
                except BlobMissing:
                    missing.append(digest)
                else:
                    archive.add_blob(digest, content)
            archive.finish()
        return BackedUp(contents, len(snapshot.digests) - len(missing), missing)
