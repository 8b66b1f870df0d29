"""A task that this program has handed over: how it fares, its result, and taking it back."""

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
"""How long `watch` waits at a time; it then waits again."""


class Delegated:
    """Returned by `me.delegate`. It shows the task as it was when last looked at."""

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
        """Why it was rejected or has failed."""
        return self._view.task.reason

    async def refresh(self) -> "Delegated":
        """Look again."""
        self._view = await self._services.tasks.view(self.id)
        return self

    async def result(self, *, timeout: float = 30.0) -> Message | None:
        """Wait until it is finished, and return the update that says how; None when the time has run out, or where it
        was rejected before anyone was told. `state` tells how it ended."""
        found = await self._services.tasks.result(self.id, self._actor, seconds(timeout, "timeout"))
        if found is None:
            await self.refresh()
            return None
        self._view = found
        return None if found.task.result is None else await self._services.mail.message(found.task.result)

    async def watch(self) -> AsyncIterator[Event]:
        """Yield what happens to it from its beginning, as it happens, until it is finished."""
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
        """Take it back. Whoever works on it is told to stop."""
        await self._services.tasks.cancel(self.id, self._actor, note(reason, "reason"))
        await self.refresh()

    async def tree(self) -> Sequence[TaskView]:
        """Return it with all that it is a part of and all that was handed on from it, each after its parent."""
        return await self._services.tasks.tree(self.id)

    async def file(self, part: FilePart) -> bytes:
        """Return the content of a file of the result."""
        return await self._services.attachments.content(parse_file(part))

    def __repr__(self) -> str:
        return f"<Delegated {self.id} to {self.record.agent}: {self.state}>"
