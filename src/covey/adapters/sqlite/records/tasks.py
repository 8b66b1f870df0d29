"""Tasks in SQLite."""

from collections.abc import Iterable, Sequence
from datetime import datetime
from itertools import islice

import covey.ports as ports
from covey.adapters.sqlite.engine.access import Access
from covey.adapters.sqlite.engine.connection import Row
from covey.adapters.sqlite.engine.statements import statements
from covey.adapters.sqlite.records.values import record_of, to_instant, to_instant_or_none, to_text, to_text_or_null
from covey.core.ids import MessageId, SessionId
from covey.core.names import AgentName
from covey.core.work.task import Task, TaskState

_SQL = statements("tasks")


class SqliteTasks:
    __slots__ = ("_access",)

    def __init__(self, access: Access) -> None:
        self._access = access

    async def get(self, task_id: MessageId) -> Task | None:
        row = self._access.read(_SQL["get"], (task_id,)).fetchone()
        return None if row is None else decode_task(row)

    async def put(self, task: Task) -> None:
        self._access.write(_SQL["put"], _encode(task))

    async def pending(self, agent: AgentName, limit: int) -> Sequence[Task]:
        return self._list("pending", agent, limit)

    async def held(self, agent: AgentName) -> Sequence[Task]:
        return self._list("held", agent)

    async def places(self, agent: AgentName) -> int:
        return int(self._access.read(_SQL["places"], (agent,)).get)

    async def left(self, agent: AgentName, limit: int) -> Sequence[Task]:
        return self._list("left", agent, limit)

    async def all_held(self) -> Sequence[Task]:
        return self._list("all_held")

    async def of_session(self, session_id: SessionId) -> Sequence[Task]:
        return self._list("of_session", session_id)

    async def due(self, now: datetime, limit: int) -> Sequence[Task]:
        return self._list("due", to_text(now), limit)

    async def untold(self, limit: int) -> Sequence[Task]:
        return self._list("untold", limit)

    async def children(self, task_id: MessageId) -> Sequence[Task]:
        return self._list("children", task_id)

    async def find(self, wanted: "ports.TaskFilter", limit: int) -> Sequence[Task]:
        newest_first = [*islice((task for task in self._newest(wanted) if wanted.fits(task)), limit)]
        newest_first.reverse()
        return newest_first

    def _newest(self, wanted: "ports.TaskFilter") -> Iterable[Task]:
        """Yield tasks, the newest first, from the most selective index."""
        if wanted.is_finished is False:
            return self._rows("newest_open")
        if wanted.agent is not None:
            return self._rows("newest_of_agent", wanted.agent)
        if wanted.delegator is not None:
            return self._rows("newest_of_delegator", wanted.delegator)
        return self._rows("newest")

    def _list(self, name: str, *values: str | int) -> Sequence[Task]:
        return [*self._rows(name, *values)]

    def _rows(self, name: str, *values: str | int) -> Iterable[Task]:
        return (decode_task(row) for row in self._access.read(_SQL[name], values))


def _encode(task: Task) -> Row:
    return (
        task.id,
        task.delegator,
        task.agent,
        task.state,
        to_text(task.created_at),
        to_text(task.updated_at),
        task.delegator_session,
        task.parent,
        task.scope,
        to_text_or_null(task.deadline),
        task.claimed_by,
        task.attempt,
        to_text_or_null(task.abandoned_at),
        task.is_told,
        task.reason,
        task.progress,
        task.result,
        to_text_or_null(task.finished_at),
    )


@record_of("tasks")
def decode_task(row: Row) -> Task:
    """Return the task of a row."""
    (
        task_id,
        delegator,
        agent,
        state,
        created_at,
        updated_at,
        delegator_session,
        parent,
        scope,
        deadline,
        claimed_by,
        attempt,
        abandoned_at,
        is_told,
        reason,
        progress,
        result,
        finished_at,
    ) = row
    return Task(
        task_id,
        delegator,
        agent,
        TaskState(state),
        to_instant(created_at),
        to_instant(updated_at),
        delegator_session,
        parent,
        scope,
        to_instant_or_none(deadline),
        claimed_by,
        attempt,
        to_instant_or_none(abandoned_at),
        bool(is_told),
        reason,
        progress,
        result,
        to_instant_or_none(finished_at),
    )
