"""Quota: the number of tasks that an agent has, and its free places. An expired task takes no place."""

from datetime import datetime

from covey.core.names import AgentName
from covey.core.task import Task, task_at
from covey.ports.store import Transaction


async def taken_places(tx: Transaction, agent: AgentName, quota: int, now: datetime) -> int:
    """Return the number of taken places of an agent's quota. The tasks themselves are read only at the limit."""
    count = await tx.tasks.places(agent)
    if count < quota:
        return count
    return sum(1 for task in await tx.tasks.held(agent) if not _is_over(task, now))


async def waiting_tasks(tx: Transaction, agent: AgentName, enough: int, now: datetime) -> int:
    """Return the number of tasks that wait for an agent, counting at most `enough`."""
    limit = enough
    while True:
        page = await tx.tasks.pending(agent, limit)
        count = sum(1 for task in page if not _is_over(task, now))
        if count >= enough or len(page) < limit:
            return min(count, enough)
        limit *= 2


def _is_over(task: Task, now: datetime) -> bool:
    return task_at(task, now).is_finished
