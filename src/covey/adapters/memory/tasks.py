"""Tasks in memory; finished ones stand on no shelf but that of their parent."""

from collections.abc import Iterable, Sequence
from datetime import datetime
from itertools import islice, takewhile

from covey.adapters.memory.table import Order, Shelf, Table
from covey.adapters.memory.undo import UndoLog
from covey.core.ids import MessageId, SessionId
from covey.core.names import AgentName
from covey.core.task import Task, TaskState
from covey.ports.tasks import TaskFilter


def _places(task: Task) -> Iterable[tuple[Shelf, Order]]:
    """Orders are all alike where tasks stand as they were first put."""
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
        self.table = Table[MessageId, Task](log, _places)

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
