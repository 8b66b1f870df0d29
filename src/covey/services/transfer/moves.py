"""Moves: a snapshot of a space is copied to another store, and compared there.

It is an export and an import in one process: no line is written to a file. The move reads one snapshot of the old
store, so that its lines are the same however often they are read. If nothing changes there in between, a killed move is
resumed by the next."""

from collections.abc import Sequence
from typing import Final, NamedTuple

from covey.core.errors import BlobMissing, Invalid, SpaceInUse, StoreCorrupt, WouldOverwrite
from covey.core.formats.export import ExportSummary
from covey.core.formats.portable import FiledMessage, RecordKind
from covey.core.identity import Identity
from covey.core.ledger.message import FilePart
from covey.core.ledger.wire import encode
from covey.core.reporting import counted
from covey.ports.blobs import Blobs
from covey.ports.space import Ports
from covey.ports.store import Store, Transaction
from covey.ports.views import Views
from covey.services.directory.presence import is_live
from covey.services.space import Services
from covey.services.transfer.exports import MESSAGES_PAGE, Export
from covey.services.transfer.imports import Tell, is_progress

UNCOUNTED: Final = frozenset({RecordKind.BLOB, RecordKind.PRUNED, RecordKind.SETTING})
"""Kinds that are checked otherwise, are exported by the page, or have entries that are not exported."""


class VerifiedCounts(NamedTuple):
    """The counts of verified records."""

    messages: int
    files: int


class MoveTarget(NamedTuple):
    """The target of an export."""

    name: str
    store: Store
    blobs: Blobs
    views: Views


async def compare(export: Export, copy: MoveTarget, summary: ExportSummary, tell: Tell) -> VerifiedCounts:
    """Verify every message of an export and the content of every file. Raise StoreCorrupt if one is missing or differs.
    A message that was pruned in the target since is no loss."""
    total = summary.counts.get(RecordKind.MESSAGE, 0)
    files: set[str] = set()
    after = found = 0
    while page := await export.view.messages(after, MESSAGES_PAGE):
        there = await _there(copy, [placed.record for placed in page])
        parts = [part for filed in there for part in filed.message.parts]
        for digest in {part.digest for part in parts if isinstance(part, FilePart)} - files:
            if digest not in export.missing:
                await _check_content(copy, digest)
                files.add(digest)
        after = page[-1].place
        found += len(there)
        tell("comparing", found, total)
    return VerifiedCounts(found, len(files))


async def check_counts(copy: MoveTarget, summary: ExportSummary) -> None:
    """Raise StoreCorrupt if there are fewer records of a kind than were imported."""
    async with copy.views.view() as view:
        totals = await view.totals()
    for kind in RecordKind:
        taken, there = summary.counts.get(kind, 0), totals.get(kind, 0)
        if kind not in UNCOUNTED and there < taken:
            raise StoreCorrupt(copy.name, f"it should hold {taken:,} records of kind {kind} and holds {there:,}")


async def _there(copy: MoveTarget, expected: Sequence[FiledMessage]) -> Sequence[FiledMessage]:
    """Return the messages that are there unchanged."""

    async def operation(tx: Transaction) -> Sequence[FiledMessage]:
        found: list[FiledMessage] = []
        for filed in expected:
            message_id = filed.message.id
            message = await tx.messages.get(message_id)
            if message is None and await tx.pruned.has(message_id):
                continue
            if message is None:
                raise StoreCorrupt(copy.name, f"message {message_id} is missing")
            if encode(message) != encode(filed.message):
                raise StoreCorrupt(copy.name, f"message {message_id} differs from the original")
            found.append(filed)
        return found

    return await copy.store.read(operation, is_long=True)


async def _check_content(copy: MoveTarget, digest: str) -> None:
    try:
        await copy.blobs.get(digest)
    except BlobMissing:
        raise StoreCorrupt(
            copy.name, f"the content of file {digest} is missing, or differs from the original"
        ) from None


class MoveSide(NamedTuple):
    """One of the two stores."""

    name: str
    ports: Ports
    services: Services
    views: Views


class MoveResult(NamedTuple):
    summary: ExportSummary
    is_new: bool
    """False if everything was there already, and nothing was changed."""
    compared: VerifiedCounts
    missing: Sequence[str]
    """The digests of files whose content was missing."""
    events_since: int
    """The number of events in the old store since the snapshot."""


async def move(source: MoveSide, target: MoveSide, actor: Identity, tell: Tell) -> MoveResult:
    """Move everything, tokens and private settings too: it is the same space in another place. The old store stays.

    Raise Invalid if the old store is empty, SpaceInUse if it has a live session, WouldOverwrite if the new store holds
    anything that did not come with this move. Nothing is changed then.
    """
    exports = source.services.exports(source.views)
    await _check_nobody_is_live(source)
    async with exports.open(with_tokens=True, with_private=True) as export:
        if not export.header.position:
            raise Invalid("store", source.name, "the space is empty: there is nothing to move")
        occupied = await _occupied(target)
        imported = await target.services.imports.take_in(export.lines, actor, tell, occupied)
        # Followers of the ledger, such as a mirror, run after a commit, and may have been killed with an earlier move.
        await target.ports.store.commit(_nothing)
        copy = MoveTarget(target.name, target.ports.store, target.ports.blobs, target.views)
        if imported.is_new:
            await check_counts(copy, imported.summary)
        compared = await compare(export, copy, imported.summary, tell)
    async with source.views.view() as now:
        since = await now.position() - imported.summary.header.position
    return MoveResult(imported.summary, imported.is_new, compared, export.missing, since)


async def _check_nobody_is_live(source: MoveSide) -> None:
    """Raise SpaceInUse if a live session would go on working in the old store."""
    ports = source.ports

    async def operation(tx: Transaction) -> None:
        now = ports.clock.now()
        for session in await tx.sessions.current():
            if is_live(session, ports.liveness, now):
                raise SpaceInUse(source.name, f"session {session.id} of {session.agent} is live")

    await ports.store.read(operation, is_long=True)


async def _nothing(tx: Transaction) -> None:
    del tx


async def _occupied(target: MoveSide) -> WouldOverwrite | None:
    """Return why the new store can't be moved to; None if it is empty. `take_in` ignores the error if this same move
    has begun there."""
    position = await target.services.history.last()  # creates the store if there is none
    if not position:
        return None
    async with target.views.view() as view:
        is_begun = any(is_progress(setting.name) for setting in await view.settings())
    if is_begun:
        return WouldOverwrite(target.name, "it has part of an earlier move, and the old space has changed since")
    return WouldOverwrite(target.name, f"it has {counted(position, 'event')} of its own")
