"""Imports: the lines of an export, written into another space in bounded commits, completely or resumable."""

import json
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from typing import Final, NamedTuple

from covey.core.channels.post import Binding, Post, PostState
from covey.core.directory.session import Session
from covey.core.errors import CoveyError, ImportConflict, Unavailable
from covey.core.formats.export import WITH_TASKS, ExportReader, ExportSummary
from covey.core.formats.portable import Blob, FiledMessage, NumberedAgent, PrunedMessages, Record, Setting
from covey.core.identity import THE_SPACE, Identity, Token
from covey.core.ledger.delivery import WAITING, DeliveryRecord
from covey.core.ledger.event import Action, Event
from covey.core.ledger.offer import Offer
from covey.core.ledger.ticket import Ticket
from covey.core.ledger.wire import encode
from covey.core.names import JOURNAL_TOPIC, AgentName, DeliveryId, MessageId
from covey.core.times import format_instant
from covey.core.work.run import Run
from covey.core.work.task import Task
from covey.ports.blobs import Blobs
from covey.ports.clock import Clock
from covey.ports.directory import Liveness
from covey.ports.store import Store, Transaction
from covey.services.act import Act, journal
from covey.services.care.task_audit import is_task, record_task
from covey.services.children.run_moves import lose_run
from covey.services.directory.presence import adopt, end_session, give_up, live_sessions
from covey.services.tasks.claims import release_task

LEFT_BEHIND = "its process belongs to the exported space"
"""The end reason of a session that was live in the exported space."""

Offsets = dict[str, int]
"""For agents that had mail here before: the offset that is added to the numbers of imported mail."""


async def apply(act: Act, record: Record, offsets: Offsets) -> None:
    """Write one record. The contents of files have been stored already, because blobs are not part of transactions."""
    match record:
        case NumberedAgent():
            await _agent(act.tx, record, offsets)
        case Setting(name, value):
            if await act.tx.settings.get(name) is None:
                await act.tx.settings.put(name, value)
        case Token():
            if await act.tx.tokens.get(record.hash) is None:
                await act.tx.tokens.put(record)
        case Event():
            await act.tx.journal.append(record)
        case Session():
            await _session(act, record)
        case Offer():
            await _offer(act, record)
        case PrunedMessages(ids):
            await refuse_known(act.tx, record)
            await act.tx.pruned.remember(ids)
        case FiledMessage(message, is_swept):
            await refuse_known(act.tx, record)
            await act.tx.messages.add(message, encode(message), is_swept=is_swept)
        case Ticket():
            await act.tx.tickets.put(record)
        case DeliveryRecord():
            number = record.number + offsets.get(record.agent or "", 0) if record.number else 0
            await act.tx.deliveries.place(record._replace(seq=0, number=number))
        case Task():
            await _task(act, record)
        case Binding():
            if await act.tx.bindings.get(record.channel, record.conversation) is None:
                await act.tx.bindings.put(record)
        case Post():
            await _post(act, record)
        case Run():
            await _run(act, record)
        case Blob():
            pass


async def refuse_known(tx: Transaction, record: Record) -> None:
    """Raise ImportConflict if a record with this id exists already."""
    match record:
        case FiledMessage(message, _):
            await _refuse_known_message(tx, message.id)
        case PrunedMessages(ids):
            for message_id in ids:
                await _refuse_known_message(tx, message_id)
        case Session() if await tx.sessions.get(record.id) is not None:
            raise ImportConflict("session", record.id)
        case Offer() if await tx.offers.get(record.id) is not None:
            raise ImportConflict("offer", record.id)
        case _:
            pass


async def _refuse_known_message(tx: Transaction, message_id: MessageId) -> None:
    if await tx.messages.get(message_id) is not None or await tx.pruned.has(message_id):
        raise ImportConflict("message", message_id)


async def _agent(tx: Transaction, record: NumberedAgent, offsets: Offsets) -> None:
    """Register an agent, or leave an existing one unchanged. Reserve the numbers of its imported mail at once."""
    agent, numbered = record
    if await tx.agents.get(agent.name) is None:
        await tx.agents.put(agent)
    if numbered:
        first = await tx.agents.next_number(agent.name, numbered)
        if first > 1:
            offsets[agent.name] = first - 1


async def _session(act: Act, session: Session) -> None:
    """Add a session. A live session is ended, because its process is not here."""
    await refuse_known(act.tx, session)
    await act.tx.sessions.put(session)
    if not session.has_ended:
        await end_session(act._replace(actor=THE_SPACE), session, LEFT_BEHIND, ())


async def _offer(act: Act, offer: Offer) -> None:
    """Add an offer. A live offer ends with its session."""
    await refuse_known(act.tx, offer)
    if offer.ended_at is not None:
        await act.tx.offers.put(offer)
        return
    await act.tx.offers.put(offer._replace(ended_at=act.now, end_reason=LEFT_BEHIND))
    session = await act.tx.sessions.get(offer.session)
    agent = session.agent if session else None
    finding = act._replace(actor=THE_SPACE)
    await journal(finding, Action.OFFER_ENDED, agent=agent, offer=offer.id, reason=LEFT_BEHIND)


async def _task(act: Act, task: Task) -> None:
    """Add a task. A task of a live session is released for the next one."""
    await act.tx.tasks.put(task)
    if task.claimed_by is not None:
        await release_task(act._replace(actor=THE_SPACE), task, task.claimed_by)


async def _post(act: Act, post: Post) -> None:
    """Add a post. A pending post queues behind the posts of its conversation here."""
    if post.state is PostState.PENDING:
        head = await act.tx.posts.head(post.channel, post.conversation)
        post = post._replace(next_at=post.next_at or act.now if head is None else None)
    await act.tx.posts.put(post)


async def _run(act: Act, run: Run) -> None:
    """Add a run. A run that had not ended is lost, because its program and its supervisor are not here. Upkeep notifies
    its parent later."""
    await act.tx.runs.put(run)
    session = await act.tx.sessions.get(run.session)
    if not run.has_ended and session is not None:
        await lose_run(act._replace(actor=THE_SPACE), session, LEFT_BEHIND)


_PREFIX: Final = "import-"


class ImportProgress(NamedTuple):
    lines: int = 0
    """The number of imported records."""
    is_done: bool = False
    offsets: Mapping[str, int] = {}
    """For agents that had mail here before: the offset that is added to the numbers of imported mail."""


def is_progress(setting: str) -> bool:
    """Tell whether a setting stores import progress, which concerns this space alone and is not exported."""
    return setting.startswith(_PREFIX)


async def read_progress(tx: Transaction, digest: str) -> ImportProgress | None:
    """Return the progress of an export's import; None if it was never begun."""
    text = await tx.settings.get(_PREFIX + digest)
    return ImportProgress(*json.loads(text)) if text is not None else None


async def write_progress(tx: Transaction, digest: str, progress: ImportProgress) -> None:
    """Store the progress of an import."""
    await tx.settings.put(_PREFIX + digest, json.dumps(progress))


BATCH: Final = 500
BATCH_BYTES: Final = 1024 * 1024
"""A commit takes at most `BATCH` records, and ends with the one that brings it to this size."""

Lines = Callable[[], AsyncIterator[bytes]]
"""Iterates over the lines of an export, the same ones every time."""

Tell = Callable[[str, int, int | None], None]
"""Progress callback: the current step, the records done, and the total if it is known."""


class ImportResult(NamedTuple):
    summary: ExportSummary
    is_new: bool
    """False if the export was imported before, and nothing was changed."""


class Imports:
    def __init__(self, store: Store, blobs: Blobs, clock: Clock, liveness: Liveness) -> None:
        self._store = store
        self._blobs = blobs
        self._clock = clock
        self._liveness = liveness

    async def take_in(
        self, lines: Lines, actor: Identity, tell: Tell, unless_begun: CoveyError | None = None
    ) -> ImportResult:
        """Import an export. Importing it again changes nothing; an interrupted import is resumed.

        Raise ExportDamaged or ExportNewer if it can't be read, ImportConflict if one of its records exists and did not
        come with this import, and `unless_begun`, if given, if this import has not begun. Nothing is changed then.
        """
        checked = await self._check(lines, tell)
        digest = checked.summary.digest

        async def begun(tx: Transaction) -> ImportProgress | None:
            return await read_progress(tx, digest)

        progress = await self._store.read(begun)
        if progress is not None and progress.is_done:
            return ImportResult(checked.summary, is_new=False)
        refused = unless_begun or checked.conflict
        if progress is None and refused is not None:
            raise refused
        await self._apply(lines, checked.summary, actor, tell)
        await self._hand_on(checked.left_behind)
        await self._record_tasks(checked.unrecorded)
        await self._adopt(checked.agents)
        await self._finish(checked.summary, actor)
        return ImportResult(checked.summary, is_new=True)

    async def _check(self, lines: Lines, tell: Tell) -> "_ExportCheck":
        reader = ExportReader()
        count = 0
        conflict: ImportConflict | None = None
        agents: list[AgentName] = []
        left_behind: list[Session] = []
        tasks: list[DeliveryId] = []
        async for batch in _batches(lines, reader):
            count += len(batch)
            tell("checking", count, None)
            agents += [record.agent.name for record in batch if isinstance(record, NumberedAgent)]
            left_behind += [record for record in batch if isinstance(record, Session) and not record.has_ended]
            tasks += [record.id for record in batch if isinstance(record, DeliveryRecord) and is_task(record)]
            conflict = conflict or await self._conflict(batch)
        summary = reader.end()
        unrecorded = tasks if summary.header.version < WITH_TASKS else ()
        return _ExportCheck(summary, conflict, agents, left_behind, unrecorded)

    async def _conflict(self, batch: Sequence[Record]) -> ImportConflict | None:
        async def look(tx: Transaction) -> None:
            for record in batch:
                await refuse_known(tx, record)

        try:
            await self._store.read(look, is_long=True)
        except ImportConflict as conflict:
            return conflict
        return None

    async def _apply(self, lines: Lines, summary: ExportSummary, actor: Identity, tell: Tell) -> None:
        before = 0
        async for batch in _batches(lines, ExportReader()):
            await self._take(summary.digest, before, batch, actor)
            before += len(batch)
            tell("importing", before, summary.records)

    async def _take(self, digest: str, before: int, batch: Sequence[Record], actor: Identity) -> None:
        """Apply one batch that starts at record `before` of the export, unless that was done."""

        async def operation(tx: Transaction) -> None:
            progress = await read_progress(tx, digest) or ImportProgress()
            if progress.lines < before:
                raise Unavailable("the space was replaced during the import")
            rest = batch[progress.lines - before :]
            if not rest:
                return
            act = Act(tx, actor, self._clock.now())
            offsets = dict(progress.offsets)
            for record in rest:
                await apply(act, record, offsets)
            await write_progress(tx, digest, ImportProgress(before + len(batch), False, offsets))
            tx.ring(JOURNAL_TOPIC)

        for record in batch:
            if isinstance(record, Blob):
                await self._blobs.put(record.content)
        await self._store.commit(operation, is_long=True)

    async def _hand_on(self, sessions: Sequence[Session]) -> None:
        """Park the mail in the inboxes of sessions that were live, as if they had ended."""
        for session in sessions:

            async def operation(tx: Transaction, session: Session = session) -> int:
                act = Act(tx, THE_SPACE, self._clock.now())
                leftover = await tx.inboxes.waiting(session.inbox, WAITING, 0, BATCH)
                for delivery in leftover:
                    await give_up(act, delivery, session.agent, ())
                return len(leftover)

            while await self._store.commit(operation, is_long=True):
                pass

    async def _record_tasks(self, deliveries: Sequence[DeliveryId]) -> None:
        """Create the records of tasks of which an older export has only the messages."""
        for start in range(0, len(deliveries), BATCH):

            async def operation(
                tx: Transaction, batch: Sequence[DeliveryId] = deliveries[start : start + BATCH]
            ) -> None:
                for delivery_id in batch:
                    delivery = await tx.deliveries.get(delivery_id)
                    if delivery is not None and is_task(delivery):
                        await record_task(tx, delivery)

            await self._store.commit(operation, is_long=True)

    async def _adopt(self, agents: Sequence[AgentName]) -> None:
        """Give parked mail to agents that have a live session now."""
        for name in agents:

            async def operation(tx: Transaction, name: AgentName = name) -> None:
                act = Act(tx, THE_SPACE, self._clock.now())
                live = await live_sessions(act, name, self._liveness)
                if live:
                    await adopt(act, live[0])

            await self._store.commit(operation, is_long=True)

    async def _finish(self, summary: ExportSummary, actor: Identity) -> None:
        async def operation(tx: Transaction) -> None:
            progress = await read_progress(tx, summary.digest) or ImportProgress()
            if progress.is_done:
                return
            await write_progress(tx, summary.digest, progress._replace(is_done=True, offsets={}))
            await journal(
                Act(tx, actor, self._clock.now()),
                Action.SPACE_IMPORTED,
                export=summary.digest,
                exported_at=format_instant(summary.header.exported_at),
                position=summary.header.position,
                records=summary.records,
            )

        await self._store.commit(operation)


class _ExportCheck(NamedTuple):
    """The result of checking an export."""

    summary: ExportSummary
    conflict: ImportConflict | None
    """A record that exists already; not a conflict if this import has written it."""
    agents: Sequence[AgentName]
    left_behind: Sequence[Session]
    """The sessions that were live."""
    unrecorded: Sequence[DeliveryId]
    """The waiting tasks, if the export has no records of them."""


async def _batches(lines: Lines, reader: ExportReader) -> AsyncIterator[Sequence[Record]]:
    """Iterate over the records in batches of bounded size, the same ones every time."""
    batch: list[Record] = []
    size = 0
    async for line in lines():
        record = reader.take(line)
        if record is None:
            continue
        batch.append(record)
        size += len(line)
        if len(batch) >= BATCH or size >= BATCH_BYTES:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch
