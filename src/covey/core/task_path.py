"""The way to a state: the moves with which whoever does a task brings it there, each of which is told."""

from collections.abc import Mapping
from typing import Final

from covey.core.errors import IllegalMove
from covey.core.task import TASK_MOVES, TaskMove, TaskState

_M = TaskMove
DOERS_MOVES: Final = (_M.ACCEPT, _M.REJECT, _M.START, _M.PROGRESS, _M.COMPLETE, _M.FAIL)


def moves_to(state: TaskState, wanted: TaskState) -> tuple[TaskMove, ...]:
    """Return the fewest moves of the doer that lead from one state to another; IllegalMove where none do. Completing
    what is only accepted starts it first; from working to working leads progress."""
    ways = _ways(state)
    if wanted not in ways:
        raise IllegalMove("task", state, f"become {wanted}")
    return ways[wanted]


def ahead_of(state: TaskState) -> tuple[TaskState, ...]:
    """Return what a task can still become by its doer's moves, the nearest first."""
    return tuple(_ways(state))


def _ways(state: TaskState) -> Mapping[TaskState, tuple[TaskMove, ...]]:
    """Return every state that can be reached, with the way to it, the shortest ways first."""
    ways: dict[TaskState, tuple[TaskMove, ...]] = {}
    ahead: list[tuple[TaskState, tuple[TaskMove, ...]]] = [(state, ())]
    for at, way in ahead:
        for move in DOERS_MOVES:
            after = TASK_MOVES[at].get(move)
            if after is not None and after not in ways:
                ways[after] = (*way, move)
                ahead.append((after, (*way, move)))
    return ways
