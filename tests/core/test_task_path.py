"""Paths to a state of a task: they follow the table, are the shortest, and never lead backwards."""

import pytest

from covey.core.errors import IllegalMove
from covey.core.work.task import DOERS_MOVES, TASK_MOVES, TaskMove, TaskState, ahead_of, moves_to

PAIRS = [(state, wanted) for state in TaskState for wanted in TaskState]


@pytest.mark.parametrize(("state", "wanted"), PAIRS)
def test_a_path_follows_the_table_or_does_not_exist(state: TaskState, wanted: TaskState) -> None:
    if wanted not in ahead_of(state):
        with pytest.raises(IllegalMove, match=f"a task that is {state} can't become {wanted}"):
            moves_to(state, wanted)
        return
    at = state
    for move in moves_to(state, wanted):
        assert move in DOERS_MOVES
        at = TASK_MOVES[at][move]
    assert at is wanted


def test_paths_are_the_shortest() -> None:
    accept, start, complete = TaskMove.ACCEPT, TaskMove.START, TaskMove.COMPLETE
    assert moves_to(TaskState.PENDING, TaskState.COMPLETED) == (accept, start, complete)
    assert moves_to(TaskState.ACCEPTED, TaskState.COMPLETED) == (start, complete)
    assert moves_to(TaskState.WORKING, TaskState.WORKING) == (TaskMove.PROGRESS,)
    assert moves_to(TaskState.PENDING, TaskState.FAILED) == (TaskMove.FAIL,)


def test_the_reachable_states_shrink_until_none_is_left() -> None:
    assert set(ahead_of(TaskState.PENDING)) == set(TaskState) - {TaskState.PENDING}
    assert set(ahead_of(TaskState.WORKING)) == {TaskState.WORKING, TaskState.COMPLETED, TaskState.FAILED}
    for state in (TaskState.COMPLETED, TaskState.FAILED, TaskState.REJECTED):
        assert ahead_of(state) == ()
