"""Intake: a file that a foreign program put into an inbox becomes a delivery, and one that it archived before the
mirror existed becomes a handled message."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Final, NamedTuple

from covey.core.directory.routing import RefusalCode
from covey.core.errors import CoveyError, Rejected
from covey.core.formats.folder_files import incoming
from covey.core.formats.foreign_files import scope_of
from covey.core.formats.layout import ForeignMessage, Shelf
from covey.core.ledger.delivery import DeliveryRecord, DeliveryState
from covey.core.ledger.event import Action
from covey.core.ledger.message import FilePart, Kind, Message
from covey.core.ledger.outcome import ReceiptRecord
from covey.core.ledger.wire import encode
from covey.core.names import AgentName, MessageId, OfferId, SessionId, delivery_id, parked_inbox
from covey.core.work.task import Task, TaskMove, TaskState, task_at
from covey.ports.clock import Ids
from covey.ports.folder import Visit
from covey.ports.store import Transaction
from covey.services.act import Act, journal
from covey.services.directory.settings import TELL_UNAUTHORIZED, is_on
from covey.services.mail.acceptance import Acceptance
from covey.services.mail.filing import NoticePorts, file
from covey.services.mail.notices import report_refused
from covey.services.mail.recipients import SendPolicy, WhenUnknown, introduce
from covey.services.mirror.files import (
    BY_OTHERS,
    IdentifiedFile,
    MirrorContext,
    first_message,
    foreigner,
    messages_called,
)
from covey.services.tasks.claims import take_claim
from covey.services.tasks.moves import shift_task
from covey.services.tasks.tasks import known_task
from covey.services.warning import debug

_S = TaskState
_M = TaskMove

PATHS: Final[Mapping[TaskState, Mapping[TaskState, Sequence[TaskMove]]]] = {
    _S.PENDING: {
        _S.ACCEPTED: (_M.ACCEPT,),
        _S.WORKING: (_M.ACCEPT, _M.START),
        _S.COMPLETED: (_M.ACCEPT, _M.START, _M.COMPLETE),
        _S.FAILED: (_M.FAIL,),
        _S.REJECTED: (_M.REJECT,),
    },
    _S.ACCEPTED: {
        _S.WORKING: (_M.START,),
        _S.COMPLETED: (_M.START, _M.COMPLETE),
        _S.FAILED: (_M.FAIL,),
        _S.REJECTED: (_M.FAIL,),
    },
    _S.WORKING: {
        _S.WORKING: (_M.PROGRESS,),
        _S.COMPLETED: (_M.COMPLETE,),
        _S.FAILED: (_M.FAIL,),
        _S.REJECTED: (_M.FAIL,),
    },
}
"""The moves between a task's recorded state and its reported state. A report of the end implies the beginning."""


def _moves(task: Task, message: Message) -> Sequence[TaskMove]:
    """Return the moves that an update stands for. There are none if it names no state, if its state is no longer
    possible, if its sender is not the task's doer, or if it does not go to the delegator alone."""
    is_due = task.agent == message.sender.agent and task.claimed_by is None
    if not is_due or [address.value for address in message.to] != [task.delegator]:
        return ()
    try:
        said = TaskState((message.task.state if message.task else None) or "")
    except ValueError:
        return ()
    return PATHS.get(task.state, {}).get(said, ())


async def told_of_task(act: Act, task_id: MessageId, message: Message, notice_ports: NoticePorts) -> bool:
    """Apply the moves that an update stands for, and tell whether there were any. The last move is reported with the
    update itself, under its id."""
    task = task_at(await known_task(act.tx, task_id), act.now)
    moves = _moves(task, message)
    for move in moves:
        if move is TaskMove.ACCEPT:
            task = await take_claim(act, task, None)
        is_last = move is moves[-1]
        reason = message.text[:1000] if move in (TaskMove.FAIL, TaskMove.REJECT) else None
        told = (
            NoticePorts(_GivenFirst(message.id, notice_ports.ids), notice_ports.liveness) if is_last else notice_ports
        )
        task = await shift_task(act, task, move, told, message.parts if is_last else (), reason)
    return bool(moves)


class _GivenFirst:
    """`Ids` whose first message id is given."""

    def __init__(self, first: MessageId, ids: Ids) -> None:
        self._first: MessageId | None = first
        self._ids = ids

    def message_id(self, now: datetime) -> MessageId:
        given, self._first = self._first, None
        return given if given is not None else self._ids.message_id(now)

    def session_id(self) -> SessionId:
        return self._ids.session_id()

    def offer_id(self) -> OfferId:
        return self._ids.offer_id()

    def secret(self) -> str:
        return self._ids.secret()


POLICY = SendPolicy(when_unknown=WhenUnknown.REGISTER)
"""Owners of folders are registered when mail for them arrives."""


class FileReferences(NamedTuple):
    """The message and the task that a file refers to, as far as they are known here."""

    answered: Message | None = None
    task: Task | None = None


class Intake:
    def __init__(self, ground: MirrorContext) -> None:
        self._ground = ground
        self._acceptance = Acceptance(ground.notice_ports.ids, ground.notice_ports.liveness)

    async def take_in(self, visit: Visit, read: IdentifiedFile) -> None:
        """Accept the message in a file, unless it was accepted before. Raise CoveyError if it can't be accepted."""
        if read.is_known:
            return
        meant = await self._meant(visit, read)
        now = self._ground.clock.now()
        sender = foreigner(read.sender)
        task = meant.task
        files = await self._snapshots(read)
        message = incoming(
            read.paper, read.message_id, sender, read.agent, now, meant.answered, task.id if task else None, files
        )
        document = encode(message)

        async def operation(tx: Transaction) -> object:
            if await tx.messages.get(message.id) is not None:
                return None
            act = Act(tx, sender, now)
            if task is not None and await told_of_task(act, task.id, message, self._ground.notice_ports):
                return None
            accepted = await self._acceptance.accept(act, message, document, POLICY, meant.answered, [])
            if isinstance(accepted, ReceiptRecord) and message.kind is Kind.TASK:
                await self._tell_of_refusal(act, message, accepted)
            return accepted

        refused = await self._ground.store.commit(operation)
        if isinstance(refused, CoveyError):
            raise refused

    async def _snapshots(self, read: IdentifiedFile) -> Mapping[str, FilePart]:
        """Return snapshots of the files that a foreign program names. A file that is not under a declared root, or
        can't be read, is left out. A relative path is ignored, because its base folder is unknown."""
        kept: dict[str, FilePart] = {}
        attachments = self._ground.attachments
        if attachments is None:
            return kept
        for path in read.paper.files:
            if path.startswith("/") and path not in kept:
                try:
                    kept[path] = await attachments.snapshot(path)
                except Rejected as error:
                    debug("the file %s of %s is not attached, only its path: %s", path, read.sender, error.message)
        return kept

    async def _tell_of_refusal(self, act: Act, message: Message, receipt: ReceiptRecord) -> None:
        """Notify a foreign program that its task was refused. A native sender learns this from the receipt."""
        for copy in receipt.refused:
            code, _, reason = (copy.reason or "").partition(": ")
            if code == RefusalCode.NOT_ALLOWED and await is_on(act.tx, TELL_UNAUTHORIZED):
                continue  # acceptance has sent the notice
            notice_ports = self._ground.notice_ports
            if copy.agent is not None:
                await report_refused(act, message, copy.agent, reason, notice_ports.ids, notice_ports.liveness)

    async def _meant(self, visit: Visit, read: IdentifiedFile) -> FileReferences:
        paper = read.paper
        answers = await messages_called(visit, paper.in_reply_to, read.sender)
        tasks = await messages_called(visit, paper.task_id, read.sender) if paper.kind is Kind.UPDATE else ()

        async def operation(tx: Transaction) -> FileReferences:
            answered = await first_message(tx, answers)
            for task_id in (*tasks, *answers):
                task = await tx.tasks.get(task_id)
                if task is not None and paper.kind is Kind.UPDATE:
                    return FileReferences(answered or await tx.messages.get(task.id), task)
            return FileReferences(answered)

        return await self._ground.store.read(operation)


BATCH: Final = 200
"""The number of files per commit."""


class _ArchivedMessage(NamedTuple):
    message: Message
    document: str
    agent: AgentName
    is_swept: bool


class ArchiveIntake:
    def __init__(self, ground: MirrorContext) -> None:
        self._ground = ground

    async def take_in(self, visit: Visit, reads: Sequence[IdentifiedFile]) -> None:
        """File messages that are in an archive and not in the ledger. No notices are sent, no tickets are opened and no
        tasks begin. Raise CoveyError if one of them can't be filed; then none is."""
        now = self._ground.clock.now()
        found: list[_ArchivedMessage] = []
        called: dict[str, Message] = {}
        for read in reads:
            answered = called.get(read.paper.in_reply_to or "") or await self._answered(visit, read)
            message = incoming(_as_told(read.paper), read.message_id, foreigner(read.sender), read.agent, now, answered)
            spot = read.arrived.spot
            is_swept = spot.shelf is Shelf.SWEPT
            scope = message.scope or (scope_of(spot.scope) if is_swept else None)
            message = message._replace(expects_reply=False, scope=scope)
            found.append(_ArchivedMessage(message, encode(message), read.agent, is_swept))
            called[read.paper.id or message.id] = message

        async def operation(tx: Transaction) -> None:
            for one in found:
                if await tx.messages.get(one.message.id) is None:
                    await _keep(Act(tx, one.message.sender, now), one)

        await self._ground.store.commit(operation, is_long=True)

    async def _answered(self, visit: Visit, read: IdentifiedFile) -> Message | None:
        answers = await messages_called(visit, read.paper.in_reply_to, read.sender)
        return await self._ground.store.read(lambda tx: first_message(tx, answers)) if answers else None


def _as_told(paper: ForeignMessage) -> ForeignMessage:
    """Convert a task of the past into a notification: only its text is kept."""
    if paper.kind is not Kind.TASK:
        return paper
    return paper._replace(kind=Kind.NOTIFY, metadata={**paper.metadata, "type": str(Kind.TASK)})


async def _keep(act: Act, found: _ArchivedMessage) -> None:
    message = found.message
    for name in (message.sender.agent, found.agent):
        if await act.tx.agents.get(name) is None:
            await introduce(act, name)
    number = await act.tx.agents.next_number(found.agent)
    delivery = DeliveryRecord(
        delivery_id(message.id, 1),
        message.id,
        parked_inbox(found.agent),
        found.agent,
        DeliveryState.HANDLED,
        message.kind,
        message.sender.agent,
        False,
        act.now,
        0,
        number,
        message.scope,
        message.subject,
        reason=BY_OTHERS,
        archived_at=act.now,
    )
    await file(act, message, found.document, (delivery,), (), is_swept=found.is_swept)
    await journal(act, Action.DELIVERY_ARCHIVED, message_id=message.id, agent=found.agent, reason=BY_OTHERS)
