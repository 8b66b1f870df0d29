"""Intake: a file that a foreign program put into an inbox becomes a delivery."""

from collections.abc import Mapping
from typing import NamedTuple

from covey.core.errors import CoveyError, Rejected
from covey.core.layout_incoming import incoming
from covey.core.message import Kind, Message
from covey.core.parts import FilePart
from covey.core.receipt import Receipt
from covey.core.routing import RefusalCode
from covey.core.task import Task
from covey.core.wire import encode
from covey.ports.folder import Visit
from covey.ports.store import Transaction
from covey.services.acceptance import Acceptance
from covey.services.act import Act
from covey.services.mirror_ground import Ground, foreigner
from covey.services.mirror_reading import Read
from covey.services.mirror_references import first_message, messages_called
from covey.services.mirror_tasks import told_of_task
from covey.services.notices import report_refused
from covey.services.policies import TELL_UNAUTHORIZED, is_on
from covey.services.recipients import SendPolicy, WhenUnknown
from covey.services.warning import debug

POLICY = SendPolicy(when_unknown=WhenUnknown.REGISTER)
"""Owners of folders are registered when mail for them arrives."""


class Meant(NamedTuple):
    """The message and the task that a file refers to, as far as they are known here."""

    answered: Message | None = None
    task: Task | None = None


class Intake:
    def __init__(self, ground: Ground) -> None:
        self._ground = ground
        self._acceptance = Acceptance(ground.desk.ids, ground.desk.liveness)

    async def take_in(self, visit: Visit, read: Read) -> None:
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
            if task is not None and await told_of_task(act, task.id, message, self._ground.desk):
                return None
            accepted = await self._acceptance.accept(act, message, document, POLICY, meant.answered, [])
            if isinstance(accepted, Receipt) and message.kind is Kind.TASK:
                await self._tell_of_refusal(act, message, accepted)
            return accepted

        refused = await self._ground.store.commit(operation)
        if isinstance(refused, CoveyError):
            raise refused

    async def _snapshots(self, read: Read) -> Mapping[str, FilePart]:
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
                    debug("the file %s of %s is told by its path alone: %s", path, read.sender, error.message)
        return kept

    async def _tell_of_refusal(self, act: Act, message: Message, receipt: Receipt) -> None:
        """Notify a foreign program that its task was refused. A native sender learns this from the receipt."""
        for copy in receipt.refused:
            code, _, reason = (copy.reason or "").partition(": ")
            if code == RefusalCode.NOT_ALLOWED and await is_on(act.tx, TELL_UNAUTHORIZED):
                continue  # acceptance has sent the notice
            desk = self._ground.desk
            if copy.agent is not None:
                await report_refused(act, message, copy.agent, reason, desk.ids, desk.liveness)

    async def _meant(self, visit: Visit, read: Read) -> Meant:
        paper = read.paper
        answers = await messages_called(visit, paper.in_reply_to, read.sender)
        tasks = await messages_called(visit, paper.task_id, read.sender) if paper.kind is Kind.UPDATE else ()

        async def operation(tx: Transaction) -> Meant:
            answered = await first_message(tx, answers)
            for task_id in (*tasks, *answers):
                task = await tx.tasks.get(task_id)
                if task is not None and paper.kind is Kind.UPDATE:
                    return Meant(answered or await tx.messages.get(task.id), task)
            return Meant(answered)

        return await self._ground.store.read(operation)
