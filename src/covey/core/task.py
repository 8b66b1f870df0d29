"""The task: work that one agent hands to another, and the table of its moves."""

from collections.abc import Mapping
from datetime import datetime
from enum import StrEnum
from typing import Final, NamedTuple

from covey.core.errors import IllegalMove
from covey.core.ids import MessageId, SessionId
from covey.core.names import AgentName, Scope


class TaskState(StrEnum):
    PENDING = "pending"
    """Nobody has said yes or no to it."""
    ACCEPTED = "accepted"
    WORKING = "working"
    COMPLETED = "completed"
    FAILED = "failed"
    """Also where it was cancelled, or its deadline passed: the reason says so."""
    REJECTED = "rejected"


class TaskMove(StrEnum):
    ACCEPT = "accept"
    REJECT = "reject"
    START = "start"
    PROGRESS = "progress"
    """Tells how far it is; the state stays."""
    COMPLETE = "complete"
    FAIL = "fail"
    CANCEL = "cancel"
    """Whoever handed it over, or the operator, wants it no more."""
    LAPSE = "lapse"
    """Its deadline passed, or its message expired, before it was finished."""


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
"""What counts against its agent's quota."""

CANCELLED: Final = "cancelled"
DEADLINE: Final = "its deadline passed"
MESSAGE_EXPIRED: Final = "its message expired before anybody took it"


class Task(NamedTuple):
    id: MessageId
    """The id of the message that handed it over."""
    delegator: AgentName
    agent: AgentName
    """Who is to do it."""
    state: TaskState
    created_at: datetime
    updated_at: datetime
    delegator_session: SessionId | None = None
    parent: MessageId | None = None
    """The task that its delegator had, and handed on in part or whole."""
    scope: Scope | None = None
    deadline: datetime | None = None
    claimed_by: SessionId | None = None
    """The one session that has it; None while it waits, or where somebody without a session took it."""
    attempt: int = 0
    """How many sessions have taken it so far: a claim is as good as its number is new."""
    abandoned_at: datetime | None = None
    """When the session that had it ended, until another takes it up."""
    is_told: bool = False
    """Whether the delegator knows that it is abandoned."""
    reason: str | None = None
    """Why it is rejected or failed."""
    progress: MessageId | None = None
    """The update that told how far it is."""
    result: MessageId | None = None
    """The update that told how it ended; its parts are the result."""
    finished_at: datetime | None = None

    @property
    def is_finished(self) -> bool:
        return self.state in FINISHED

    @property
    def is_active(self) -> bool:
        return self.state in ACTIVE

    @property
    def is_refused(self) -> bool:
        """Whether it was refused when it was handed over: it never reached its agent, and nobody was told later."""
        return self.state is TaskState.REJECTED and self.result is None

    @property
    def is_held(self) -> bool:
        """Whether it takes a place of its agent's quota: a session has it, or somebody said yes to it."""
        return self.is_active or (self.state is TaskState.PENDING and self.claimed_by is not None)


def task_moved(task: Task, move: TaskMove, at: datetime, reason: str | None = None) -> Task:
    """Return the task after `move`; a move that the table does not have is IllegalMove."""
    state = TASK_MOVES[task.state].get(move)
    if state is None:
        raise IllegalMove("task", task.state, move)
    after = task._replace(state=state, updated_at=at)
    if after.is_finished:
        return after._replace(finished_at=at, reason=reason, claimed_by=None, abandoned_at=None)
    return after


def task_at(task: Task, now: datetime) -> Task:
    """Return the task as a reader sees it at `now`, before anyone has written down that its deadline has passed."""
    if task.is_finished or task.deadline is None or now < task.deadline:
        return task
    return task_moved(task, TaskMove.LAPSE, task.deadline, DEADLINE)


def claimed(task: Task, session: SessionId | None, at: datetime) -> Task:
    """Return the task as one session has it, or somebody without a session."""
    return task._replace(claimed_by=session, attempt=task.attempt + 1, abandoned_at=None, is_told=False, updated_at=at)


def abandoned(task: Task, at: datetime) -> Task:
    """Return the task after the session that had it has ended. What was not accepted yet merely waits again."""
    left = task._replace(claimed_by=None, updated_at=at)
    return left if task.state is TaskState.PENDING else left._replace(abandoned_at=at, is_told=False)
