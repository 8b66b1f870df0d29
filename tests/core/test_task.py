"""The state table of tasks."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from covey.core.errors import IllegalMove
from covey.core.work.task import FINISHED, TASK_MOVES, TaskMove, TaskState, abandoned, claimed, task_at, task_moved
from covey.testing import a_session_id, a_task, at

moves = st.sampled_from(TaskMove)
states = st.sampled_from(TaskState)


@pytest.mark.requirement("mailbox.task.lifecycle")
def test_the_table_is_the_documented_lifecycle() -> None:
    leads = {(state, target) for state, line in TASK_MOVES.items() for target in line.values() if target is not state}
    assert leads == {
        ("pending", "accepted"),
        ("pending", "rejected"),
        ("pending", "failed"),
        ("accepted", "working"),
        ("accepted", "failed"),
        ("working", "completed"),
        ("working", "failed"),
    }


@given(st.lists(moves, max_size=20))
def test_no_sequence_of_moves_leaves_the_table_or_a_finished_task(sequence: list[TaskMove]) -> None:
    task = a_task()
    for move in sequence:
        before = task
        try:
            task = task_moved(task, move, at(1), "why")
        except IllegalMove:
            assert move not in TASK_MOVES[before.state]
        else:
            assert not before.is_finished
            assert task.state is TASK_MOVES[before.state][move]
            assert task.is_finished == (task.finished_at is not None) == (task.reason is not None)


def test_every_state_can_be_reached_and_every_move_is_used() -> None:
    reached = {TaskState.PENDING}
    while more := {target for state in reached for target in TASK_MOVES[state].values()} - reached:
        reached |= more
    assert reached == set(TASK_MOVES) == set(TaskState)
    assert {move for line in TASK_MOVES.values() for move in line} == set(TaskMove)


@given(states, st.none() | st.integers(0, 20))
def test_a_task_counts_as_failed_as_soon_as_its_deadline_is_reached(state: TaskState, deadline: int | None) -> None:
    task = a_task(state=state, deadline=None if deadline is None else at(deadline))
    seen = task_at(task, at(10))
    if state in FINISHED or deadline is None or deadline > 10:
        assert seen is task
    else:
        assert (seen.state, seen.finished_at) == (TaskState.FAILED, at(deadline))


@given(st.sampled_from((TaskState.PENDING, TaskState.ACCEPTED, TaskState.WORKING)), st.integers(1, 5))
def test_each_claim_has_a_number_of_its_own(state: TaskState, claims: int) -> None:
    task = a_task(state=state)
    for n in range(1, claims + 1):
        task = claimed(task, a_session_id(n), at(n))
        assert (task.attempt, task.claimed_by, task.abandoned_at) == (n, a_session_id(n), None)
        task = abandoned(task, at(n))
        assert task.claimed_by is None
        assert (task.abandoned_at is None) == (state is TaskState.PENDING)
        assert (task.state, task.attempt) == (state, n)
