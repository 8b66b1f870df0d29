"""The task: work that one agent hands to another, the table of its moves, and the moves that lead from one state to
another."""

from collections.abc import Mapping
from datetime import datetime
from enum import StrEnum
from typing import Final, NamedTuple

from covey.core.errors import IllegalMove
from covey.core.names import AgentName, MessageId, Scope, SessionId


class TaskState(StrEnum):
    PENDING = "pending"
    """The task is neither accepted nor rejected."""
    ACCEPTED = "accepted"
    WORKING = "working"
    COMPLETED = "completed"
    FAILED = "failed"
    """The task failed, was cancelled, or its deadline passed; the reason says which."""
    REJECTED = "rejected"


class TaskMove(StrEnum):
    ACCEPT = "accept"
    REJECT = "reject"
    START = "start"
    PROGRESS = "progress"
    """Reports progress; the state stays."""
    COMPLETE = "complete"
    FAIL = "fail"
    CANCEL = "cancel"
    """The delegator or the operator no longer wants the task done."""
    LAPSE = "lapse"
    """The deadline passed, or the message expired, before the task was finished."""


_T = TaskState
_M = TaskMove
_GIVEN_UP: Final[Mapping[TaskMove, TaskState]] = {_M.FAIL: _T.FAILED, _M.CANCEL: _T.FAILED, _M.LAPSE: _T.FAILED}

TASK_MOVES: Final[Mapping[TaskState, Mapping[TaskMove, TaskState]]] = {
    _T.PENDING: {_M.ACCEPT: _T.ACCEPTED, _M.REJECT: _T.REJECTED, **_GIVEN_UP},
    _T.ACCEPTED: {_M.START: _T.WORKING, **_GIVEN_UP},
    _T.WORKING: {_M.PROGRESS: _T.WORKING, _M.COMPLETE: _T.COMPLETED, **_GIVEN_UP},
    _T.COMPLETED: {},
    _T.FAILED: {},
    _T.REJECTED: {},
}

FINISHED: Final = frozenset(state for state, moves in TASK_MOVES.items() if not moves)
ACTIVE: Final = frozenset({_T.ACCEPTED, _T.WORKING})
"""States in which a task counts against its agent's quota."""

CANCELLED: Final = "cancelled"
DEADLINE: Final = "its deadline passed"
MESSAGE_EXPIRED: Final = "its message expired before a session took it"


class Task(NamedTuple):
    id: MessageId
    """The id of the message that handed the task over."""
    delegator: AgentName
    agent: AgentName
    """The agent that the task is for."""
    state: TaskState
    created_at: datetime
    updated_at: datetime
    delegator_session: SessionId | None = None
    parent: MessageId | None = None
    """The task of the delegator that this one is a part of."""
    scope: Scope | None = None
    deadline: datetime | None = None
    claimed_by: SessionId | None = None
    """The session that holds the task; None while the task waits, or if it was claimed without a session."""
    attempt: int = 0
    """The number of claims so far. Only the claim with the latest number is valid."""
    abandoned_at: datetime | None = None
    """The time at which the session that held the task ended; None again when another session takes it up."""
    is_told: bool = False
    """True if the delegator was told that the task is abandoned."""
    reason: str | None = None
    """The reason of a rejection or failure."""
    progress: MessageId | None = None
    """The last update that reported progress."""
    result: MessageId | None = None
    """The update that reported the end; its parts are the result."""
    finished_at: datetime | None = None

    @property
    def is_finished(self) -> bool:
        return self.state in FINISHED

    @property
    def is_active(self) -> bool:
        return self.state in ACTIVE

    @property
    def is_refused(self) -> bool:
        """True if the task was refused when it was handed over: it never reached its agent, and has no update."""
        return self.state is TaskState.REJECTED and self.result is None

    @property
    def is_held(self) -> bool:
        """True if the task takes a place of its agent's quota: a session holds it, or it was accepted."""
        return self.is_active or (self.state is TaskState.PENDING and self.claimed_by is not None)


def task_moved(task: Task, move: TaskMove, at: datetime, reason: str | None = None) -> Task:
    """Return the task after `move`. Raise IllegalMove for a move that is not in the table."""
    state = TASK_MOVES[task.state].get(move)
    if state is None:
        raise IllegalMove("task", task.state, move)
    after = task._replace(state=state, updated_at=at)
    if after.is_finished:
        return after._replace(finished_at=at, reason=reason, claimed_by=None, abandoned_at=None)
    return after


def task_at(task: Task, now: datetime) -> Task:
    """Return the task as a reader sees it at `now`, even if the end of its deadline is not recorded yet."""
    if task.is_finished or task.deadline is None or now < task.deadline:
        return task
    return task_moved(task, TaskMove.LAPSE, task.deadline, DEADLINE)


def claimed(task: Task, session: SessionId | None, at: datetime) -> Task:
    """Return the task as claimed by a session, or without one."""
    return task._replace(claimed_by=session, attempt=task.attempt + 1, abandoned_at=None, is_told=False, updated_at=at)


def abandoned(task: Task, at: datetime) -> Task:
    """Return the task after the end of the session that held it. A task that was not accepted yet just waits again."""
    left = task._replace(claimed_by=None, updated_at=at)
    return left if task.state is TaskState.PENDING else left._replace(abandoned_at=at, is_told=False)


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
