"""Task paths: the moves by which the agent of a task brings it from one state to another."""

from collections.abc import Mapping
from typing import Final

from covey.core.errors import IllegalMove
from covey.core.work.task import TASK_MOVES, TaskMove, TaskState

_M = TaskMove
DOERS_MOVES: Final = (_M.ACCEPT, _M.REJECT, _M.START, _M.PROGRESS, _M.COMPLETE, _M.FAIL)


def moves_to(state: TaskState, wanted: TaskState) -> tuple[TaskMove, ...]:
    """Return the shortest sequence of the agent's moves from one state to another. Raise IllegalMove if there is none.
    An accepted task is started before it is completed; from working to working leads progress."""
    ways = _ways(state)
    if wanted not in ways:
        raise IllegalMove("task", state, f"become {wanted}")
    return ways[wanted]


def ahead_of(state: TaskState) -> tuple[TaskState, ...]:
    """Return the states that a task can still reach by its agent's moves, the nearest first."""
    return tuple(_ways(state))


def _ways(state: TaskState) -> Mapping[TaskState, tuple[TaskMove, ...]]:
    """Return every reachable state with the moves to it, the shortest sequence first."""
    ways: dict[TaskState, tuple[TaskMove, ...]] = {}
    ahead: list[tuple[TaskState, tuple[TaskMove, ...]]] = [(state, ())]
    for at, way in ahead:
        for move in DOERS_MOVES:
            after = TASK_MOVES[at].get(move)
            if after is not None and after not in ways:
                ways[after] = (*way, move)
                ahead.append((after, (*way, move)))
    return ways
