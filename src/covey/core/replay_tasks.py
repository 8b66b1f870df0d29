"""The replay of tasks: the state that they must have according to the journal."""

from covey.core.account import TaskAccount
from covey.core.delivery import DeliveryState
from covey.core.details import agree, count, entries, known, text, text_or_none
from covey.core.errors import IllegalMove, Invalid
from covey.core.event import Action, Event
from covey.core.ids import MessageId, SessionId
from covey.core.message import Kind
from covey.core.task import FINISHED, TASK_MOVES, TaskMove, TaskState


class TaskReplay:
    """A fold over the events of tasks, oldest first. An event that can't follow the earlier ones raises, and changes
    nothing."""

    def __init__(self) -> None:
        self.tasks: dict[MessageId, TaskAccount] = {}
        self.steps = {
            Action.TASK_MOVED: self._moved,
            Action.TASK_CLAIMED: self._claimed,
            Action.TASK_RELEASED: self._released,
        }

    def sent(self, event: Event) -> None:
        """Apply the sending of a message, which may hand over a task."""
        if event.details.get("kind") == Kind.TASK:
            self.tasks[known(event.message_id, "message")] = _opened(event)

    def _moved(self, event: Event) -> None:
        task_id, account = self._task(event)
        move = TaskMove(text(event.details, "move"))
        state = TASK_MOVES[account.state].get(move)
        if state is None:
            raise IllegalMove("task", account.state, move)
        agree(event.details, "from", account.state)
        agree(event.details, "to", state)
        after = account._replace(state=state)
        if move is TaskMove.ACCEPT and count(event.details, "attempt") == account.attempt + 1:
            # The task was claimed and accepted in one step.
            after = after._replace(claimed_by=_session(event), attempt=account.attempt + 1)
        update = text_or_none(event.details, "update")
        told = MessageId(update) if update is not None else None
        if move is TaskMove.PROGRESS:
            after = after._replace(progress=told)
        if state in FINISHED:
            reason = text_or_none(event.details, "reason")
            after = after._replace(claimed_by=None, abandoned_at=None, reason=reason, result=told, finished_at=event.at)
        self.tasks[task_id] = after

    def _claimed(self, event: Event) -> None:
        task_id, account = self._task(event)
        attempt = count(event.details, "attempt")
        if account.state in FINISHED or attempt != account.attempt + 1:
            raise Invalid("attempt", attempt, f"the task is {account.state}, and was claimed {account.attempt} times")
        self.tasks[task_id] = account._replace(claimed_by=_session(event), attempt=attempt, abandoned_at=None)

    def _released(self, event: Event) -> None:
        task_id, account = self._task(event)
        agree(event.details, "session", account.claimed_by or "none")
        is_abandoned = account.state is not TaskState.PENDING
        self.tasks[task_id] = account._replace(claimed_by=None, abandoned_at=event.at if is_abandoned else None)

    def _task(self, event: Event) -> tuple[MessageId, TaskAccount]:
        task_id = known(event.message_id, "message")
        return task_id, self.tasks[task_id]


def _session(event: Event) -> SessionId | None:
    session = text_or_none(event.details, "session")
    return SessionId(session) if session is not None else None


def _opened(event: Event) -> TaskAccount:
    """Return the first state of a task: pending, or rejected if its message was refused."""
    lines = entries(event.details, "deliveries")
    if any(text(line, "state") == DeliveryState.QUEUED for line in lines):
        return TaskAccount(TaskState.PENDING)
    reason = text_or_none(lines[0], "reason") if lines else None
    return TaskAccount(TaskState.REJECTED, reason=reason, finished_at=event.at)
