"""Restore: a backup becomes a space again, in another place or in place of the existing space.

Everything is staged beside the place first: the sessions of the backup are ended there, because their processes are
gone, and their unhandled mail is parked. Then the staged space takes the place atomically.
"""

from collections.abc import Sequence
from typing import NamedTuple

from covey.core.directory.session import Session
from covey.core.errors import BackupUnusable, SpaceInUse, StoreCorrupt
from covey.core.identity import Identity
from covey.core.ledger.event import Action
from covey.core.times import format_instant
from covey.ports.backup import Archive, Archives, Claim, Contents, RestoreTarget
from covey.ports.blobs import Blobs
from covey.ports.checkup import Tell
from covey.ports.clock import Clock
from covey.ports.directory import Liveness
from covey.ports.store import Store, Transaction
from covey.services.act import Act, journal
from covey.services.directory.presence import end_session, is_live

REASON = "the space was restored from a backup"
"""The end reason of a backup's sessions."""


class Restored(NamedTuple):
    contents: Contents
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

    async def restore(self, file: str, actor: Identity, *, replace: bool, tell: Tell) -> Restored:
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
                return Restored(archive.contents, blobs, ended)

    async def _check_nobody_is_live(self, claim: Claim) -> None:
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

    async def _stage(self, archive: Archive, claim: Claim, tell: Tell, file: str) -> Store:
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

    async def _note(self, store: Store, contents: Contents, actor: Identity) -> None:
        async def operation(tx: Transaction) -> None:
            act = Act(tx, actor, self._clock.now())
            made_at = format_instant(contents.made_at)
            await journal(act, Action.SPACE_RESTORED, position=contents.position, made_at=made_at)

        await store.commit(operation)


async def _current(tx: Transaction) -> Sequence[Session]:
    return await tx.sessions.current()
