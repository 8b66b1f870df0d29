"""Delegated tasks: the state, the result and the cancellation of a task that this program has delegated."""

from collections.abc import AsyncIterator, Sequence

from covey.core.checks import file as parse_file
from covey.core.checks import note, seconds
from covey.core.identity import Identity
from covey.core.ids import MessageId
from covey.core.ledger.event import Action, Event
from covey.core.ledger.message import FilePart, Message
from covey.core.work.task import Task, TaskState
from covey.services.space import Services
from covey.services.tasks.tasks import TaskView

WAIT_SECONDS = 3600.0
"""The limit of one wait in `watch`, in seconds; `watch` then waits again."""


class Delegated:
    """Returned by `me.delegate`. The object shows the task as of the last read."""

    def __init__(self, view: TaskView, services: Services, actor: Identity) -> None:
        self._view = view
        self._services = services
        self._actor = actor
        self._update: Message | None = None

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
    def reason(self) -> str | None:
        """The reason for a rejection or a failure."""
        return self._view.task.reason

    async def refresh(self) -> "Delegated":
        """Read the task again."""
        self._view = await self._services.tasks.view(self.id)
        return self

    async def result(self, *, timeout: float = 30.0) -> Message | None:
        """Wait until the task is finished, and return the update with its result. Return None on timeout, or if the
        task finished without an update. `state` has the outcome."""
        found = await self._services.tasks.result(self.id, self._actor, seconds(timeout, "timeout"))
        if found is None:
            await self.refresh()
            return None
        self._view = found
        return None if found.task.result is None else await self._services.mail.message(found.task.result)

    async def watch(self) -> AsyncIterator[Event]:
        """Yield the events of the task from its beginning, as they happen, until the task is finished."""
        after = 0
        while True:
            events = await self._services.tasks.changes(self.id, after, WAIT_SECONDS)
            for event in events:
                after = event.position
                if event.action in (Action.TASK_MOVED, Action.TASK_CLAIMED, Action.TASK_RELEASED):
                    yield event
            await self.refresh()
            if self._view.task.is_finished and not await self._services.tasks.history(self.id, after):
                return

    async def cancel(self, reason: str = "") -> None:
        """Cancel the task. The session that works on the task is told to stop."""
        await self._services.tasks.cancel(self.id, self._actor, note(reason, "reason"))
        await self.refresh()

    async def tree(self) -> Sequence[TaskView]:
        """Return the task with the tasks that it is a part of and those that were delegated from it, each after its
        parent."""
        return await self._services.tasks.tree(self.id)

    async def file(self, part: FilePart) -> bytes:
        """Return the content of a file of the result."""
        return await self._services.attachments.content(parse_file(part))

    def __repr__(self) -> str:
        return f"<Delegated {self.id} to {self.record.agent}: {self.state}>"
