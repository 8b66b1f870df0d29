"""Tasks as records in a transaction."""

from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple, Protocol

from covey.core.ids import MessageId, SessionId
from covey.core.names import AgentName, Scope
from covey.core.task import Task


class TaskFilter(NamedTuple):
    """Which tasks to list; what is None does not matter."""

    agent: AgentName | None = None
    """Who is to do it."""
    delegator: AgentName | None = None
    scope: Scope | None = None
    is_finished: bool | None = None

    def fits(self, task: Task) -> bool:
        return (
            self.agent in (None, task.agent)
            and self.delegator in (None, task.delegator)
            and self.scope in (None, task.scope)
            and self.is_finished in (None, task.is_finished)
        )


class Tasks(Protocol):
    """Tasks by id. The cost of what is pending, held, due or untold does not grow with those that are finished."""

    async def get(self, task_id: MessageId) -> Task | None:
        """Return the task, finished or not, or None."""
        ...

    async def put(self, task: Task) -> None:
        """Add the task, or replace what is known of it."""
        ...

    async def pending(self, agent: AgentName, limit: int) -> Sequence[Task]:
        """Return the first `limit` tasks of an agent that are pending and that no session has, in the order in which
        they were first put."""
        ...

    async def held(self, agent: AgentName) -> Sequence[Task]:
        """Return the tasks of an agent that take a place of its quota (`Task.is_held`), in the order in which they were
        first put."""
        ...

    async def places(self, agent: AgentName) -> int:
        """Return how many these are."""
        ...

    async def left(self, agent: AgentName, limit: int) -> Sequence[Task]:
        """Return the first `limit` of them that sessions which have ended left (`abandoned_at`), in the same order."""
        ...

    async def all_held(self) -> Sequence[Task]:
        """Return what is held by all agents, by agent."""
        ...

    async def of_session(self, session_id: SessionId) -> Sequence[Task]:
        """Return the tasks that a session has, in the order in which they were first put."""
        ...

    async def due(self, now: datetime, limit: int) -> Sequence[Task]:
        """Return the first `limit` tasks that are not finished and whose deadline came by `now`, by deadline."""
        ...

    async def untold(self, limit: int) -> Sequence[Task]:
        """Return the first `limit` tasks that are abandoned and whose delegator does not know it, in the order in which
        they were first put."""
        ...

    async def children(self, task_id: MessageId) -> Sequence[Task]:
        """Return the tasks whose parent it is, finished or not, in the order in which they were first put."""
        ...

    async def find(self, wanted: TaskFilter, limit: int) -> Sequence[Task]:
        """Return the `limit` tasks put first last that fit, in the order in which they were first put."""
        ...
