"""Runs, tasks and waits in memory."""

from collections.abc import Iterable, Sequence
from datetime import datetime
from itertools import islice, takewhile

from covey.adapters.memory.table import Order, Shelf, Table, UndoLog
from covey.core.ledger.waits import Awaited, Wait
from covey.core.names import AgentName, MessageId, SessionId
from covey.core.work.run import Run, RunId
from covey.core.work.task import Task, TaskState
from covey.ports.work import RunFilter, TaskFilter


def _run_places(run: Run) -> Iterable[tuple[Shelf, Order]]:
    """Yield the shelves of a run. Equal orders keep runs in the order of their first put. An ended run is not on the
    shelf of live runs."""
    yield ("session", run.session), 0
    yield ("request", run.request), 0
    if run.parent is not None:
        yield ("children", run.parent), 0
    if not run.has_ended:
        yield ("alive", run.parent_agent), 0
    elif not run.is_told:
        yield "untold", 0
    if run.has_ended and run.folder is not None:
        yield "uncleared", 0


class MemoryRuns:
    def __init__(self, log: UndoLog) -> None:
        self.table = Table[RunId, Run](log, _run_places)

    async def get(self, run_id: RunId) -> Run | None:
        return self.table.get(run_id)

    async def put(self, run: Run) -> None:
        self.table.put(run.id, run)

    async def of_session(self, session_id: SessionId) -> Run | None:
        return next(self.table.in_order(("session", session_id)), None)

    async def children(self, session_id: SessionId) -> Sequence[Run]:
        return self.table.on(("children", session_id))

    async def alive(self, parent_agent: AgentName) -> int:
        return self.table.count(("alive", parent_agent))

    async def untold(self, limit: int) -> Sequence[Run]:
        return [*islice(self.table.in_order("untold"), limit)]

    async def uncleared(self, limit: int) -> Sequence[Run]:
        return [*islice(self.table.in_order("uncleared"), limit)]

    async def find(self, wanted: RunFilter, limit: int) -> Sequence[Run]:
        newest_first = [*islice((run for run in self.table.newest_first() if wanted.fits(run)), limit)]
        return newest_first[::-1]


def _task_places(task: Task) -> Iterable[tuple[Shelf, Order]]:
    """Yield the shelves of a task. Equal orders keep tasks in the order of their first put."""
    if task.parent is not None:
        yield ("children", task.parent), 0
    if task.claimed_by is not None:
        yield ("session", task.claimed_by), 0
    if task.is_held:
        yield ("held", task.agent), 0
        yield "held", task.agent
    elif task.state is TaskState.PENDING:
        yield ("pending", task.agent), 0
    if task.abandoned_at is not None:
        yield ("left", task.agent), 0
    if task.abandoned_at is not None and not task.is_told:
        yield "untold", 0
    if task.deadline is not None and not task.is_finished:
        yield "due", task.deadline


class MemoryTasks:
    def __init__(self, log: UndoLog) -> None:
        self.table = Table[MessageId, Task](log, _task_places)

    async def get(self, task_id: MessageId) -> Task | None:
        return self.table.get(task_id)

    async def put(self, task: Task) -> None:
        self.table.put(task.id, task)

    async def pending(self, agent: AgentName, limit: int) -> Sequence[Task]:
        return [*islice(self.table.in_order(("pending", agent)), limit)]

    async def held(self, agent: AgentName) -> Sequence[Task]:
        return self.table.on(("held", agent))

    async def places(self, agent: AgentName) -> int:
        return self.table.count(("held", agent))

    async def left(self, agent: AgentName, limit: int) -> Sequence[Task]:
        return [*islice(self.table.in_order(("left", agent)), limit)]

    async def all_held(self) -> Sequence[Task]:
        return self.table.on("held")

    async def of_session(self, session_id: SessionId) -> Sequence[Task]:
        return self.table.on(("session", session_id))

    async def due(self, now: datetime, limit: int) -> Sequence[Task]:
        by_deadline = self.table.in_order("due")
        return [*islice(takewhile(lambda task: task.deadline is not None and task.deadline <= now, by_deadline), limit)]

    async def untold(self, limit: int) -> Sequence[Task]:
        return [*islice(self.table.in_order("untold"), limit)]

    async def children(self, task_id: MessageId) -> Sequence[Task]:
        return self.table.on(("children", task_id))

    async def find(self, wanted: TaskFilter, limit: int) -> Sequence[Task]:
        newest_first = [*islice((task for task in self.table.newest_first() if wanted.fits(task)), limit)]
        return newest_first[::-1]


def _wait_places(wait: Wait) -> Iterable[tuple[Shelf, Order]]:
    yield ("of", wait.asker), wait.what


class MemoryWaits:
    def __init__(self, log: UndoLog) -> None:
        self._table = Table[str, Wait](log, _wait_places)

    async def put(self, wait: Wait) -> None:
        self._table.put(_wait_key(wait.asker, wait.what), wait)

    async def remove(self, asker: AgentName, what: Awaited) -> None:
        if self._table.get(_wait_key(asker, what)) is not None:
            self._table.remove(_wait_key(asker, what))

    async def of(self, asker: AgentName) -> Sequence[Wait]:
        return self._table.on(("of", asker))

    async def all(self) -> Sequence[Wait]:
        return sorted(self._table.all(), key=lambda wait: (wait.asker, wait.what))


def _wait_key(asker: AgentName, what: Awaited) -> str:
    return f"{asker} {what}"
