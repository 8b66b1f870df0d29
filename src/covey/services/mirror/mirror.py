"""The mirror: one pass over a folder that people and foreign programs share.

A pass first takes their changes into the ledger, and then brings the folder in line with the ledger.
"""

from collections.abc import Collection, Iterable, Sequence
from typing import Final

from covey.core.errors import CoveyError, Paused, Unavailable
from covey.core.formats.foreign_files import scope_of
from covey.core.formats.layout import FilePlace, KnownFile, Layout, Shelf
from covey.core.ledger.delivery import WAITING, DeliveryRecord, Move
from covey.core.ledger.event import Action
from covey.core.ledger.outcome import verdict
from covey.core.ledger.ticket import TicketMove, TicketState
from covey.core.names import AgentName, MessageId, Scope, ticket_id
from covey.core.reporting import Report, Reporting, report_nothing
from covey.ports.clock import Clock
from covey.ports.folder import DepartedFile, Folder, FolderChanges, Visit
from covey.ports.store import Store, Transaction
from covey.services.act import Act, journal, shift, shift_ticket
from covey.services.directory.settings import SUBJECTS_ARE_CATEGORIES, is_on
from covey.services.mail.attachments import Attachments
from covey.services.mail.filing import NoticePorts
from covey.services.mirror.changes import EventPage
from covey.services.mirror.files import BY_OTHERS, IdentifiedFile, MirrorContext, foreigner, known_as, read_file
from covey.services.mirror.intake import BATCH, ArchiveIntake, Intake
from covey.services.mirror.outflow import Outflow
from covey.services.mirror.registry import BEAT, MailboxRegistry
from covey.services.warning import warn


class CopySettlement:
    def __init__(self, ground: MirrorContext) -> None:
        self._ground = ground

    async def put_away(self, message_id: MessageId, agent: AgentName) -> None:
        """Settle the copies of an agent. In the dialogue layout that also closes its ticket, because loops archive
        after they have answered. A mailbox archives what was merely read, and the answer comes later."""

        async def operation(tx: Transaction) -> None:
            copies = [copy for copy in await tx.deliveries.of_message(message_id) if copy.agent == agent]
            act = Act(tx, foreigner(agent), self._ground.clock.now())
            settled = [await _settled(act, copy) for copy in copies]
            if self._ground.layout is Layout.DIALOGUE and settled:
                await _archive(act, message_id, agent, settled)

        await self._ground.store.commit(operation)

    async def swept(self, moved: Iterable[KnownFile]) -> None:
        """Sweep the scopes whose files were moved to the shelf of swept messages, if nothing in them is open."""
        scopes = {scope_of(known.spot.scope): known.agent for known in moved if known.spot.shelf is Shelf.SWEPT}
        for scope, agent in scopes.items():
            if scope is not None:
                await self._sweep(scope, agent)

    async def _sweep(self, scope: Scope, agent: AgentName) -> None:
        async def operation(tx: Transaction) -> None:
            is_open = not verdict(scope, await tx.tickets.owed_in(scope)).passed
            if is_open or await tx.deliveries.unsettled_in(scope):
                return
            moved = await tx.messages.sweep(scope)
            if moved:
                act = Act(tx, foreigner(agent), self._ground.clock.now())
                await journal(act, Action.MESSAGE_SWEPT, scope=scope, moved=moved, reason=BY_OTHERS)

        await self._ground.store.commit(operation, is_long=True)


async def _settled(act: Act, copy: DeliveryRecord) -> DeliveryRecord:
    return await shift(act, copy, Move.SETTLE, BY_OTHERS) if copy.state in WAITING else copy


async def _archive(act: Act, message_id: MessageId, agent: AgentName, copies: Iterable[DeliveryRecord]) -> None:
    ticket = await act.tx.tickets.get(ticket_id(message_id, agent))
    if ticket is not None and ticket.state is not TicketState.CLOSED:
        await shift_ticket(act, ticket, TicketMove.ARCHIVE)
    kept = [copy for copy in copies if copy.archived_at is None and copy.is_terminal]
    for copy in kept:
        await act.tx.deliveries.put(copy._replace(archived_at=act.now))
    if kept:
        await journal(act, Action.DELIVERY_ARCHIVED, message_id=message_id, agent=agent, reason=BY_OTHERS)


LOOK: Final = 500
"""The number of files that one look takes in."""

LIMIT_S: Final = 10.0
"""The time that a pass waits for passes of other processes."""

ENTERING: Final = frozenset(
    {
        Action.AGENT_REGISTERED,
        Action.SESSION_JOINED,
        Action.SESSION_ACTIVITY,
        Action.SESSION_ENDED,
        Action.TASK_MOVED,
        Action.TASK_CLAIMED,
        Action.TASK_RELEASED,
        Action.SPACE_IMPORTED,
        Action.SPACE_RESTORED,
    }
)
"""Events that change an entry of the registry."""


class Mirror:
    """Passes over a shared folder. `store` is the ledger itself, not the wrapper that triggers passes."""

    def __init__(
        self,
        store: Store,
        folder: Folder,
        clock: Clock,
        notice_ports: NoticePorts,
        limit_s: float = LIMIT_S,
        report: Report = report_nothing,
        attachments: Attachments | None = None,
    ) -> None:
        self._folder = folder
        self._report = report
        self._limit_s = limit_s
        self._clock = clock
        ground = MirrorContext(store, folder.layout, clock, notice_ports, attachments)
        self._intake = Intake(ground)
        self._history = ArchiveIntake(ground)
        self._settling = CopySettlement(ground)
        self._outflow = Outflow(ground)
        self._registry = MailboxRegistry(ground)
        self._ground = ground
        self._beat_at = 0.0
        self._is_marked = folder.layout is not Layout.DIALOGUE

    async def run(self, noted: Collection[EventPage] = ()) -> None:
        """Make a pass. If the folder can't be used now, the ledger goes on without it, and the next pass catches up.
        `noted` holds the pages of recent commits, which the pass need not read again."""
        try:
            async with self._folder.visit(self._limit_s) as visit:
                await self._mark_subjects()
                await self._pass(visit, noted)
        except (CoveyError, OSError) as error:
            warn("the folder is not in sync with the space: %s", error)

    async def _mark_subjects(self) -> None:
        """Record in the ledger that subjects are categories in this layout, before any message is accepted under that
        rule."""
        if self._is_marked:
            return
        store = self._ground.store
        if not await store.read(lambda tx: is_on(tx, SUBJECTS_ARE_CATEGORIES)):
            await store.commit(lambda tx: tx.settings.put(SUBJECTS_ARE_CATEGORIES, "true"))
        self._is_marked = True

    async def close(self) -> None:
        """Close the folder."""
        await self._folder.close()

    async def _pass(self, visit: Visit, noted: Collection[EventPage]) -> None:
        missing: dict[MessageId, None] = {}
        restless: dict[MessageId, None] = {}
        is_entered = True
        taken_in = 0
        with Reporting(self._report, "reading new files") as reporting:
            while True:
                sighting = await visit.look(LOOK)
                if sighting.is_quiet:
                    break
                noted = ()  # the files taken in now came after those pages
                is_entered = is_entered and sighting.registry is None
                seen = await self._see(visit, sighting, missing, restless)
                if not sighting.is_more or not seen:
                    break
                taken_in += seen
                reporting.at(taken_in)
        with Reporting(self._report, "writing files") as reporting:
            happened = await self._outflow.bring(visit, list(missing), list(restless), noted, reporting)
        if self._ground.layout is Layout.MAILBOX:
            is_due = self._clock.monotonic() - self._beat_at >= BEAT.total_seconds()
            if is_due or not is_entered or not ENTERING.isdisjoint(happened):
                await self._registry.enter(visit)
                self._beat_at = self._clock.monotonic()

    async def _see(
        self, visit: Visit, sighting: FolderChanges, missing: dict[MessageId, None], restless: dict[MessageId, None]
    ) -> int:
        """Take in a sighting, and return the number of files that are done. Messages whose file is gone are added to
        `missing`; known messages whose file may be in the wrong place, to `restless`."""
        if sighting.registry is not None:
            await self._registry.take_in(visit, sighting.registry)
        gone = {left.known.spot for left in sighting.left if left.now is None}
        reads = await self._read(visit, sighting, gone)
        known = await self._take_in(visit, [read for read in reads if read.arrived.spot.shelf is Shelf.INBOX])
        known += await self._take_history(visit, [r for r in reads if r.arrived.spot.shelf is not Shelf.INBOX])
        moved = await self._take_moves(visit, sighting.left)
        known += moved
        await self._settling.swept(known)
        restless |= dict.fromkeys(read.message_id for read in reads if read.is_known)
        restless |= dict.fromkeys(one.message_id for one in moved)
        found = {(one.message_id, one.agent) for one in known}
        for left in sighting.left:
            if left.now is None and (left.known.message_id, left.known.agent) not in found:
                missing[left.known.message_id] = None
        return len(known) + len(sighting.arrived) - len(reads)

    async def _read(self, visit: Visit, sighting: FolderChanges, gone: set[FilePlace]) -> list[IdentifiedFile]:
        """Return the arrived files that can be read, oldest first, so that an answer comes after its question."""
        reads: list[IdentifiedFile] = []
        for arrived in sighting.arrived:
            try:
                reads.append(await read_file(self._ground, visit, arrived, gone))
            except Unavailable:
                raise
            except CoveyError as error:
                await visit.set_aside(arrived.spot, arrived.digest, error.message)
        return sorted(reads, key=_age)

    async def _take_in(self, visit: Visit, reads: Sequence[IdentifiedFile]) -> list[KnownFile]:
        """Take in files from inboxes. Return their entries."""
        known: list[KnownFile] = []
        taken: set[MessageId] = set()
        for seen in reads:
            read = seen
            try:
                if read.message_id in taken:  # another file of this look has the same id: read this one again
                    read = await read_file(self._ground, visit, read.arrived, ())
                taken.add(read.message_id)
                await self._intake.take_in(visit, read)
            except Unavailable:
                raise
            except Paused:
                continue  # the file stays where it is until the space is resumed
            except CoveyError as error:
                await visit.set_aside(read.arrived.spot, read.arrived.digest, error.message)
            else:
                known += await self._note(visit, [read])
        return known

    async def _take_history(self, visit: Visit, reads: Sequence[IdentifiedFile]) -> list[KnownFile]:
        """Take in files from archives. Return their entries."""
        known: list[KnownFile] = []
        strange = [read for read in reads if not read.is_known]
        for start in range(0, len(strange), BATCH):
            known += await self._take_batch(visit, strange[start : start + BATCH])
        for read in reads:
            if read.is_known:
                await self._settling.put_away(read.message_id, read.agent)
                known += await self._note(visit, [read])
        return known

    async def _take_batch(self, visit: Visit, reads: Sequence[IdentifiedFile]) -> list[KnownFile]:
        try:
            await self._history.take_in(visit, reads)
        except Unavailable:
            raise
        except CoveyError as error:
            if len(reads) == 1:
                await visit.set_aside(reads[0].arrived.spot, reads[0].arrived.digest, error.message)
                return []
            return [known for read in reads for known in await self._take_batch(visit, [read])]
        return await self._note(visit, reads)

    async def _note(self, visit: Visit, reads: Sequence[IdentifiedFile]) -> list[KnownFile]:
        """Remember files that are in the ledger now. The next file may refer to them."""
        known = [await known_as(visit, read) for read in reads]
        await visit.note(known, {read.arrived.spot: read.arrived.digest for read in reads})
        return known

    async def _take_moves(self, visit: Visit, left: Sequence[DepartedFile]) -> list[KnownFile]:
        """Settle messages whose files were put away, and remember the files' new places."""
        moved: list[KnownFile] = []
        for one in left:
            if one.now is None:
                continue
            if one.now.shelf is not Shelf.INBOX:
                await self._settling.put_away(one.known.message_id, one.known.agent)
            moved.append(one.known._replace(spot=one.now))
        if moved:
            await visit.note(moved, {})
        return moved


def _age(read: IdentifiedFile) -> tuple[int, str]:
    return read.millis, read.arrived.spot.name
