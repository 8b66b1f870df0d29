"""Backup and restore: a consistent copy of a space in one file, made while the space is in use, and its return as a
space, in another place or in place of the existing space."""

from collections.abc import Sequence
from typing import NamedTuple

from covey.core.directory.session import Session
from covey.core.errors import BackupUnusable, BlobMissing, SpaceInUse, StoreCorrupt
from covey.core.identity import Identity
from covey.core.ledger.event import Action
from covey.core.times import format_instant
from covey.ports.blobs import Blobs, BlobUpkeep
from covey.ports.care import Archive, ArchiveContents, Archives, PlaceClaim, ProgressCallback, RestoreTarget, Snapshots
from covey.ports.clock import Clock
from covey.ports.directory import Liveness
from covey.ports.store import Store, Transaction
from covey.services.act import Act, journal
from covey.services.directory.presence import end_session, is_live


class BackupResult(NamedTuple):
    contents: ArchiveContents
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

    async def back_up(self, file: str, *, replace: bool, tell: ProgressCallback) -> BackupResult:
        """Write the whole space to a file. The file gets its name only when it is complete, verified and synced."""
        missing: list[str] = []
        # Hold pruning, so that every blob of the snapshot is still there when it is archived.
        with self._upkeep.hold(), self._archives.create(file, replace=replace) as archive:
            made_at = self._clock.now()
            snapshot = await self._snapshots.take(archive.records_file, tell)
            contents = ArchiveContents(made_at, snapshot.position, snapshot.counts)
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
        return BackupResult(contents, len(snapshot.digests) - len(missing), missing)


REASON = "the space was restored from a backup"
"""The end reason of a backup's sessions."""


class RestoreResult(NamedTuple):
    contents: ArchiveContents
    blobs: int
    sessions_ended: int


class Restore:
    def __init__(
        self, archives: Archives, place: RestoreTarget, blobs: Blobs, liveness: Liveness, clock: Clock
    ) -> None:
        self._archives = archives
        self._place = place
        self._blobs = blobs
        self._liveness = liveness
        self._clock = clock

    async def restore(self, file: str, actor: Identity, *, replace: bool, tell: ProgressCallback) -> RestoreResult:
        """Install the space in `file`. Raise SpaceInUse if a live session uses the place, WouldOverwrite if there is a
        space that must not be replaced. Nothing is changed then."""
        with self._archives.open(file) as archive:
            archive.check(tell)
        with self._archives.open(file) as archive:
            async with self._place.claim(replace=replace) as claim:
                await self._check_nobody_is_live(claim)
                store = await self._stage(archive, claim, tell, file)
                ended = await self._end_sessions(store, actor)
                await self._note(store, archive.contents, actor)
                blobs = 0
                for content in archive.blobs():
                    await self._blobs.put(content)
                    blobs += 1
                await claim.install(tell)
                return RestoreResult(archive.contents, blobs, ended)

    async def _check_nobody_is_live(self, claim: PlaceClaim) -> None:
        """Raise SpaceInUse for live sessions whose process does not have the store open: clients, and those on other
        machines."""
        if claim.is_empty:
            return
        try:
            sessions = await claim.read(_current)
        except StoreCorrupt:
            return  # the damaged store is to be replaced, and can't list its live sessions
        now = self._clock.now()
        live = [session for session in sessions if is_live(session, self._liveness, now)]
        if live:
            raise SpaceInUse(claim.name, f"session {live[0].id} of {live[0].agent} is live")

    async def _stage(self, archive: Archive, claim: PlaceClaim, tell: ProgressCallback, file: str) -> Store:
        archive.extract_records(claim.staging_file, tell)
        store, snapshot = await claim.staged()
        contents = archive.contents
        if (snapshot.position, snapshot.counts) != (contents.position, contents.counts):
            raise BackupUnusable(file, f"it should hold {dict(contents.counts)} and holds {dict(snapshot.counts)}")
        return store

    async def _end_sessions(self, store: Store, actor: Identity) -> int:
        sessions = await store.read(_current, is_long=True)
        for session in sessions:

            async def operation(tx: Transaction, session: Session = session) -> None:
                await end_session(Act(tx, actor, self._clock.now()), session, REASON, ())

            await store.commit(operation, is_long=True)
        return len(sessions)

    async def _note(self, store: Store, contents: ArchiveContents, actor: Identity) -> None:
        async def operation(tx: Transaction) -> None:
            act = Act(tx, actor, self._clock.now())
            made_at = format_instant(contents.made_at)
            await journal(act, Action.SPACE_RESTORED, position=contents.position, made_at=made_at)

        await store.commit(operation)


async def _current(tx: Transaction) -> Sequence[Session]:
    return await tx.sessions.current()
