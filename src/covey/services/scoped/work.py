"""Runs as the holder of an agent's token sees them: the children that it started, and those of its own agent."""

from collections.abc import Sequence
from datetime import datetime

from covey.core.authority import is_involved
from covey.core.errors import BeyondToken
from covey.core.identity import Identity
from covey.core.ids import MessageId, SessionId
from covey.core.names import AgentName
from covey.core.work.run import Run, RunId
from covey.core.work.task import Task
from covey.ports.store import Transaction
from covey.ports.work import RunFilter, TaskFilter


class ScopedRuns:
    def __init__(self, tx: Transaction, holder: Identity) -> None:
        self._tx = tx
        self._holder = holder

    async def get(self, run_id: RunId) -> Run | None:
        return self._own(await self._tx.runs.get(run_id))

    async def put(self, run: Run) -> None:
        raise RuntimeError("a read does not write: use commit")

    async def of_session(self, session_id: SessionId) -> Run | None:
        return self._own(await self._tx.runs.of_session(session_id))

    async def children(self, session_id: SessionId) -> Sequence[Run]:
        return [run for run in await self._tx.runs.children(session_id) if self._is_own(run)]

    async def alive(self, parent_agent: AgentName) -> int:
        return await self._tx.runs.alive(parent_agent)

    async def untold(self, limit: int) -> Sequence[Run]:
        return await self._tx.runs.untold(limit)

    async def uncleared(self, limit: int) -> Sequence[Run]:
        return await self._tx.runs.uncleared(limit)

    async def find(self, wanted: RunFilter, limit: int) -> Sequence[Run]:
        """Return the holder's runs, as parent or as child."""
        me = self._holder.agent
        started = (
            await self._tx.runs.find(wanted._replace(parent_agent=me), limit)
            if wanted.parent_agent in (None, me)
            else ()
        )
        own = await self._tx.runs.find(wanted._replace(agent=me), limit) if wanted.agent in (None, me) else ()
        both = {run.id: run for run in (*started, *own)}
        return sorted(both.values(), key=lambda run: (run.started_at, run.id))[-limit:]

    def _own(self, run: Run | None) -> Run | None:
        return run if run is not None and self._is_own(run) else None

    def _is_own(self, run: Run) -> bool:
        return self._holder.agent in (run.agent, run.parent_agent)


class ScopedTasks:
    def __init__(self, tx: Transaction, holder: Identity) -> None:
        self._tx = tx
        self._holder = holder

    async def get(self, task_id: MessageId) -> Task | None:
        task = await self._tx.tasks.get(task_id)
        return task if task is not None and is_involved(self._holder.agent, task) else None

    async def put(self, task: Task) -> None:
        raise RuntimeError("a read does not write: use commit")

    async def pending(self, agent: AgentName, limit: int) -> Sequence[Task]:
        self._check(agent)
        return await self._tx.tasks.pending(agent, limit)

    async def held(self, agent: AgentName) -> Sequence[Task]:
        """Return all held tasks: the load of an agent is visible to everyone."""
        return await self._tx.tasks.held(agent)

    async def places(self, agent: AgentName) -> int:
        return await self._tx.tasks.places(agent)

    async def left(self, agent: AgentName, limit: int) -> Sequence[Task]:
        self._check(agent)
        return await self._tx.tasks.left(agent, limit)

    async def all_held(self) -> Sequence[Task]:
        return await self._tx.tasks.all_held()

    async def of_session(self, session_id: SessionId) -> Sequence[Task]:
        return self._own(await self._tx.tasks.of_session(session_id))

    async def due(self, now: datetime, limit: int) -> Sequence[Task]:
        return await self._tx.tasks.due(now, limit)

    async def untold(self, limit: int) -> Sequence[Task]:
        return await self._tx.tasks.untold(limit)

    async def children(self, task_id: MessageId) -> Sequence[Task]:
        return self._own(await self._tx.tasks.children(task_id))

    async def find(self, wanted: TaskFilter, limit: int) -> Sequence[Task]:
        """Return the holder's tasks, as delegator or as doer."""
        me = self._holder.agent
        given = (
            await self._tx.tasks.find(wanted._replace(delegator=me), limit) if wanted.delegator in (None, me) else ()
        )
        to_do = await self._tx.tasks.find(wanted._replace(agent=me), limit) if wanted.agent in (None, me) else ()
        both = {task.id: task for task in self._own((*given, *to_do))}
        return sorted(both.values(), key=lambda task: task.id)[-limit:]

    def _own(self, tasks: Sequence[Task]) -> Sequence[Task]:
        return [task for task in tasks if is_involved(self._holder.agent, task)]

    def _check(self, agent: AgentName) -> None:
        if agent != self._holder.agent:
            raise BeyondToken(self._holder.agent, f"list the tasks of {agent}")
