"""Moves: a space taken from one store to another, as it is at one moment, and compared there.

It is an export and an import in one process: no line of it is written to a file. The move sees the old store as it was
at one moment for as long as it lasts, so its lines are the same however often they are read. Where nothing happens
there in between, a move that was killed is gone on with by the next.
"""

from collections.abc import Sequence
from typing import NamedTuple

from covey.core.counted import counted
from covey.core.errors import Invalid, SpaceInUse, WouldOverwrite
from covey.core.export_lines import Summary
from covey.core.identity import Identity
from covey.ports.space import Ports
from covey.ports.store import Transaction
from covey.ports.views import Views
from covey.services.presence import is_live
from covey.services.space import Services
from covey.services.transfer_compare import Compared, Copy, check_counts, compare
from covey.services.transfer_import import Tell
from covey.services.transfer_progress import is_progress


class Side(NamedTuple):
    """One of the two stores."""

    name: str
    ports: Ports
    services: Services
    views: Views


class Moved(NamedTuple):
    summary: Summary
    is_new: bool
    """False where all of it was there already, and nothing was changed."""
    compared: Compared
    missing: Sequence[str]
    """The digests of files whose content was not there any more."""
    events_since: int
    """How much has happened in the old store since the moment that was moved."""


async def move(source: Side, target: Side, actor: Identity, tell: Tell) -> Moved:
    """Move everything, tokens and private settings too: it is the same space, elsewhere. The old store stays.

    Invalid where nothing ever happened there, SpaceInUse where a session is live there; WouldOverwrite where the new
    store holds anything that did not come with this move. Nothing is changed then.
    """
    exports = source.services.exports(source.views)
    await _check_nobody_is_live(source)
    async with exports.open(with_tokens=True, with_private=True) as export:
        if not export.header.position:
            raise Invalid("store", source.name, "nothing has happened there: there is nothing to move")
        occupied = await _occupied(target)
        imported = await target.services.imports.take_in(export.lines, actor, tell, occupied)
        # What follows the ledger does so after a commit, and may have been killed with an earlier move.
        await target.ports.store.commit(_nothing)
        copy = Copy(target.name, target.ports.store, target.ports.blobs, target.views)
        if imported.is_new:
            await check_counts(copy, imported.summary)
        compared = await compare(export, copy, imported.summary, tell)
    async with source.views.view() as now:
        since = await now.position() - imported.summary.header.position
    return Moved(imported.summary, imported.is_new, compared, export.missing, since)


async def _check_nobody_is_live(source: Side) -> None:
    """Raise SpaceInUse where somebody would be left behind with what it does from now on."""
    ports = source.ports

    async def operation(tx: Transaction) -> None:
        now = ports.clock.now()
        for session in await tx.sessions.current():
            if is_live(session, ports.liveness, now):
                raise SpaceInUse(source.name, f"session {session.id} of {session.agent} is live")

    await ports.store.read(operation, is_long=True)


async def _nothing(tx: Transaction) -> None:
    del tx


async def _occupied(target: Side) -> WouldOverwrite | None:
    """Return why the new store is no place to move to, unless it is this move that has begun there."""
    position = await target.services.history.last()  # makes the store, where there is none
    if not position:
        return None
    async with target.views.view() as view:
        is_begun = any(is_progress(setting.name) for setting in await view.settings())
    if is_begun:
        return WouldOverwrite(target.name, "what was taken there is of another moment, and the space has changed since")
    return WouldOverwrite(target.name, f"it has {counted(position, 'event')} of its own")
