"""Task updates of foreign programs: the moves that an update stands for."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Final

from covey.core.ids import MessageId, OfferId, SessionId
from covey.core.message import Message
from covey.core.task import Task, TaskMove, TaskState, task_at
from covey.ports.clock import Ids
from covey.services.act import Act
from covey.services.claims import take_claim
from covey.services.task_moves import shift_task
from covey.services.tasks import known_task
from covey.services.updates import Desk

_S = TaskState
_M = TaskMove

PATHS: Final[Mapping[TaskState, Mapping[TaskState, Sequence[TaskMove]]]] = {
    _S.PENDING: {
        _S.ACCEPTED: (_M.ACCEPT,),
        _S.WORKING: (_M.ACCEPT, _M.START),
        _S.COMPLETED: (_M.ACCEPT, _M.START, _M.COMPLETE),
        _S.FAILED: (_M.FAIL,),
        _S.REJECTED: (_M.REJECT,),
    },
    _S.ACCEPTED: {
        _S.WORKING: (_M.START,),
        _S.COMPLETED: (_M.START, _M.COMPLETE),
        _S.FAILED: (_M.FAIL,),
        _S.REJECTED: (_M.FAIL,),
    },
    _S.WORKING: {
        _S.WORKING: (_M.PROGRESS,),
        _S.COMPLETED: (_M.COMPLETE,),
        _S.FAILED: (_M.FAIL,),
        _S.REJECTED: (_M.FAIL,),
    },
}
"""The moves between a task's recorded state and its reported state. A report of the end implies the beginning."""


def _moves(task: Task, message: Message) -> Sequence[TaskMove]:
    """Return the moves that an update stands for. There are none if it names no state, if its state is no longer
    possible, if its sender is not the task's doer, or if it does not go to the delegator alone."""
    is_due = task.agent == message.sender.agent and task.claimed_by is None
    if not is_due or [address.value for address in message.to] != [task.delegator]:
        return ()
    try:
        said = TaskState((message.task.state if message.task else None) or "")
    except ValueError:
        return ()
    return PATHS.get(task.state, {}).get(said, ())


async def told_of_task(act: Act, task_id: MessageId, message: Message, desk: Desk) -> bool:
    """Apply the moves that an update stands for, and tell whether there were any. The last move is reported with the
    update itself, under its id."""
    task = task_at(await known_task(act.tx, task_id), act.now)
    moves = _moves(task, message)
    for move in moves:
        if move is TaskMove.ACCEPT:
            task = await take_claim(act, task, None)
        is_last = move is moves[-1]
        reason = message.text[:1000] if move in (TaskMove.FAIL, TaskMove.REJECT) else None
        told = Desk(_GivenFirst(message.id, desk.ids), desk.liveness) if is_last else desk
        task = await shift_task(act, task, move, told, message.parts if is_last else (), reason)
    return bool(moves)


class _GivenFirst:
    """`Ids` whose first message id is given."""

    def __init__(self, first: MessageId, ids: Ids) -> None:
        self._first: MessageId | None = first
        self._ids = ids

    def message_id(self, now: datetime) -> MessageId:
        given, self._first = self._first, None
        return given if given is not None else self._ids.message_id(now)

    def session_id(self) -> SessionId:
        return self._ids.session_id()

    def offer_id(self) -> OfferId:
        return self._ids.offer_id()

    def secret(self) -> str:
        return self._ids.secret()
