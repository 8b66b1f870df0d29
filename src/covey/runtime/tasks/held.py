"""A held task: one task that a session has claimed, and the session's moves."""

from collections.abc import Sequence

from covey.core.identity import Identity
from covey.core.ids import MessageId
from covey.core.ledger.message import FilePart, Message, Part
from covey.core.names import AgentName
from covey.core.work.task import Task, TaskState
from covey.services.space import Services
from covey.services.tasks.tasks import TaskView


class HeldTask:
    """A task as of the session's last move. Every move notifies the delegator."""

    def __init__(self, view: TaskView, services: Services, actor: Identity) -> None:
        self._view = view
        self.services = services
        self.actor = actor

    @property
    def id(self) -> MessageId:
        return self._view.task.id

    @property
    def record(self) -> Task:
        return self._view.task

    @property
    def state(self) -> TaskState:
        return self._view.task.state

    @property
    def message(self) -> Message:
        return self._view.message

    @property
    def text(self) -> str:
        """The task in the words of its delegator."""
        return self._view.message.text

    @property
    def delegator(self) -> AgentName:
        return self._view.task.delegator

    @property
    def attempt(self) -> int:
        """1, or more if earlier sessions ended in the middle of the task."""
        return self._view.task.attempt

    @property
    def files(self) -> tuple[FilePart, ...]:
        return tuple(part for part in self.message.parts if isinstance(part, FilePart))

    async def file(self, part: FilePart) -> bytes:
        """Return the content of one of the task's file parts."""
        return await self.services.attachments.content(part)

    async def start(self) -> None:
        """Report that the work has begun."""
        self._now(await self.services.duties.start(self.id, self.actor, self.attempt))

    async def progress(self, parts: Sequence[Part]) -> None:
        """Report progress."""
        self._now(await self.services.duties.progress(self.id, self.actor, tuple(parts), self.attempt))

    async def complete(self, parts: Sequence[Part]) -> None:
        """Hand in the result."""
        self._now(await self.services.duties.complete(self.id, self.actor, tuple(parts), self.attempt))

    async def fail(self, reason: str, parts: Sequence[Part]) -> None:
        """Fail the task with a reason."""
        self._now(await self.services.duties.fail(self.id, self.actor, reason, tuple(parts), self.attempt))

    async def let_go(self) -> None:
        """Release the task for another session of the agent."""
        self._now(await self.services.duties.let_go(self.id, self.actor, self.attempt))

    def _now(self, task: Task) -> None:
        self._view = self._view._replace(task=task)
