"""Tasks, runs, waits, causal trees and flows: collections of records in a transaction."""

from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple, Protocol

from covey.core.ledger.waits import Awaited, Wait
from covey.core.names import AgentName, MessageId, Scope, SessionId
from covey.core.storms.budget import Tree
from covey.core.storms.flow import Flow, Party
from covey.core.work.run import Run, RunId
from covey.core.work.task import Task


class TaskFilter(NamedTuple):
    """A filter for tasks. Fields that are None match everything."""

    agent: AgentName | None = None
    """The agent that the task is for."""
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
    """Tasks by id. The cost of `pending`, `held`, `due` and `untold` does not grow with finished tasks."""

    async def get(self, task_id: MessageId) -> Task | None:
        """Return the task, finished or not, or None."""
        ...

    async def put(self, task: Task) -> None:
        """Add or replace the task."""
        ...

    async def pending(self, agent: AgentName, limit: int) -> Sequence[Task]:
        """Return the first `limit` tasks of an agent that are pending and not claimed by a session, in the order in
        which they were first put."""
        ...

    async def held(self, agent: AgentName) -> Sequence[Task]:
        """Return the tasks of an agent that take a place of its quota (`Task.is_held`), in the order in which they were
        first put."""
        ...

    async def places(self, agent: AgentName) -> int:
        """Return the number of `held` tasks of an agent."""
        ...

    async def left(self, agent: AgentName, limit: int) -> Sequence[Task]:
        """Return the first `limit` of the `held` tasks that are abandoned (`abandoned_at`), in the same order."""
        ...

    async def all_held(self) -> Sequence[Task]:
        """Return the `held` tasks of all agents, by agent."""
        ...

    async def of_session(self, session_id: SessionId) -> Sequence[Task]:
        """Return the tasks that a session has claimed, in the order in which they were first put."""
        ...

    async def due(self, now: datetime, limit: int) -> Sequence[Task]:
        """Return the first `limit` unfinished tasks whose deadline has passed by `now`, by deadline."""
        ...

    async def untold(self, limit: int) -> Sequence[Task]:
        """Return the first `limit` abandoned tasks whose delegator was not told, in the order in which they were first
        put."""
        ...

    async def children(self, task_id: MessageId) -> Sequence[Task]:
        """Return the tasks that have this one as their parent, finished or not, in the order in which they were first
        put."""
        ...

    async def find(self, wanted: TaskFilter, limit: int) -> Sequence[Task]:
        """Return the newest `limit` matching tasks, in the order in which they were first put."""
        ...


class RunFilter(NamedTuple):
    """A filter for runs. Fields that are None match everything."""

    agent: AgentName | None = None
    """The child's own agent."""
    parent_agent: AgentName | None = None
    has_ended: bool | None = None

    def fits(self, run: Run) -> bool:
        return (
            self.agent in (None, run.agent)
            and self.parent_agent in (None, run.parent_agent)
            and self.has_ended in (None, run.has_ended)
        )


class Runs(Protocol):
    """Runs by id. The cost of `alive`, `untold` and `uncleared` does not grow with runs that need no more work."""

    async def get(self, run_id: RunId) -> Run | None:
        """Return the run, ended or not, or None."""
        ...

    async def put(self, run: Run) -> None:
        """Add or replace the run."""
        ...

    async def of_session(self, session_id: SessionId) -> Run | None:
        """Return the run that has this session, ended or not, or None."""
        ...

    async def children(self, session_id: SessionId) -> Sequence[Run]:
        """Return the runs that a session spawned, ended or not, in the order in which they were first put."""
        ...

    async def alive(self, parent_agent: AgentName) -> int:
        """Return the number of children of an agent that have not ended, over all its sessions."""
        ...

    async def untold(self, limit: int) -> Sequence[Run]:
        """Return the first `limit` runs that have ended and whose parents were not told, in the order in which they
        were first put."""
        ...

    async def uncleared(self, limit: int) -> Sequence[Run]:
        """Return the first `limit` runs that have ended and still have a folder, in the order in which they were first
        put."""
        ...

    async def find(self, wanted: RunFilter, limit: int) -> Sequence[Run]:
        """Return the newest `limit` matching runs, in the order in which they were first put."""
        ...


class Waits(Protocol):
    """The waits of each agent, one for each awaited ticket or task. Callers check which of them have timed out."""

    async def put(self, wait: Wait) -> None:
        """Add the wait, or replace the one of the same agent for the same ticket or task."""
        ...

    async def remove(self, asker: AgentName, what: Awaited) -> None:
        """Remove a wait, if it exists."""
        ...

    async def of(self, asker: AgentName) -> Sequence[Wait]:
        """Return the waits of an agent, by the awaited id. The cost does not grow with the waits of other agents."""
        ...

    async def all(self) -> Sequence[Wait]:
        """Return every wait, by agent, then by the awaited id."""
        ...


class Trees(Protocol):
    """Causal trees by their roots. A message that led to no other message has no tree."""

    async def get(self, root: MessageId) -> Tree | None:
        """Return the tree, or None."""
        ...

    async def put(self, tree: Tree) -> None:
        """Add or replace the tree."""
        ...

    async def stopped(self) -> Sequence[Tree]:
        """Return the stopped trees (`Tree.is_stopped`), the one that grew last first. The cost does not grow with other
        trees."""
        ...

    async def since(self, at: datetime, limit: int) -> Sequence[Tree]:
        """Return the first `limit` trees that grew at that time or later, the one that grew last first."""
        ...

    async def forget(self, before: datetime, limit: int) -> int:
        """Remove up to `limit` trees that are not stopped and last grew before that time; return their number."""
        ...


class Flows(Protocol):
    """The sampled flows, one for each source and target."""

    async def get(self, source: Party, target: Party) -> Flow | None:
        """Return the flow, or None."""
        ...

    async def put(self, flow: Flow) -> None:
        """Add the flow, or replace the one with the same source and target."""
        ...

    async def strongest(self, source: Party, limit: int) -> Sequence[Flow]:
        """Return the first `limit` flows of a source, by descending `exchanged`, then by target. The cost does not grow
        with the flows of other sources."""
        ...

    async def remove(self, source: Party) -> None:
        """Remove all flows of a source, if there are any."""
        ...

    async def forget(self, before: datetime, limit: int) -> int:
        """Remove up to `limit` flows whose last sample is older than `before`; return their number."""
        ...
