"""Intake: a file that a foreign program put into an inbox is a delivery."""

from typing import NamedTuple

from covey.core.errors import CoveyError
from covey.core.layout_incoming import incoming
from covey.core.message import Kind, Message
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
from covey.services.recipients import SendPolicy, WhenUnknown

POLICY = SendPolicy(when_unknown=WhenUnknown.REGISTER)
"""Whoever has a folder is known."""


class Meant(NamedTuple):
    """What a file refers to, as far as it is known here."""

    answered: Message | None = None
    task: Task | None = None


class Intake:
    def __init__(self, ground: Ground) -> None:
        self._ground = ground
        self._acceptance = Acceptance(ground.desk.ids, ground.desk.liveness)

    async def take_in(self, visit: Visit, read: Read) -> None:
        """Accept what a file says, unless that was done before. CoveyError where it can't be accepted as it is."""
        if read.is_known:
            return
        meant = await self._meant(visit, read)
        now = self._ground.clock.now()
        sender = foreigner(read.sender)
        task = meant.task
        message = incoming(
            read.paper, read.message_id, sender, read.agent, now, meant.answered, task.id if task else None
        )
        document = encode(message)

        async def operation(tx: Transaction) -> object:
            if await tx.messages.get(message.id) is not None:
                return None
            act = Act(tx, sender, now)
            if task is not None and await told_of_task(act, task.id, message, self._ground.desk):
                return None
            return await self._acceptance.accept(act, message, document, POLICY, meant.answered, [])

        refused = await self._ground.store.commit(operation)
        if isinstance(refused, CoveyError):
            raise refused

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
