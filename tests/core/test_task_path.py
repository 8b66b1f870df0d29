"""The way to a state of a task: it follows the table, is the shortest, and there is none backwards."""

import pytest

from covey.core.errors import IllegalMove
from covey.core.work.task import TASK_MOVES, TaskMove, TaskState
from covey.core.work.task_path import DOERS_MOVES, ahead_of, moves_to

PAIRS = [(state, wanted) for state in TaskState for wanted in TaskState]


@pytest.mark.parametrize(("state", "wanted"), PAIRS)
def test_a_way_follows_the_table_or_there_is_none(state: TaskState, wanted: TaskState) -> None:
    if wanted not in ahead_of(state):
        with pytest.raises(IllegalMove, match=f"a task that is {state} can't become {wanted}"):
            moves_to(state, wanted)
        return
    at = state
    for move in moves_to(state, wanted):
        assert move in DOERS_MOVES
        at = TASK_MOVES[at][move]
    assert at is wanted


def test_ways_are_the_shortest() -> None:
    accept, start, complete = TaskMove.ACCEPT, TaskMove.START, TaskMove.COMPLETE
    assert moves_to(TaskState.PENDING, TaskState.COMPLETED) == (accept, start, complete)
    assert moves_to(TaskState.ACCEPTED, TaskState.COMPLETED) == (start, complete)
    assert moves_to(TaskState.WORKING, TaskState.WORKING) == (TaskMove.PROGRESS,)
    assert moves_to(TaskState.PENDING, TaskState.FAILED) == (TaskMove.FAIL,)


def test_what_is_ahead_shrinks_until_nothing_is() -> None:
    assert set(ahead_of(TaskState.PENDING)) == set(TaskState) - {TaskState.PENDING}
    assert set(ahead_of(TaskState.WORKING)) == {TaskState.WORKING, TaskState.COMPLETED, TaskState.FAILED}
    for state in (TaskState.COMPLETED, TaskState.FAILED, TaskState.REJECTED):
        assert ahead_of(state) == ()
