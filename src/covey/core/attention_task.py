"""Notes for a model on the task that a message hands over, or is about."""

from typing import Final

from covey.core.attention import TaskNote
from covey.core.identity import Grade
from covey.core.ids import MessageId
from covey.core.message import Kind, Message
from covey.core.task import Task, TaskState

_STATES: Final = frozenset(str(state) for state in TaskState)


def about_task(message: Message) -> MessageId | None:
    """Return the id of the task that a message hands over or reports on; None if there is none."""
    if message.kind is Kind.TASK:
        return message.id
    is_update = message.kind is Kind.UPDATE and message.task is not None and message.task.state in _STATES
    return MessageId(message.task.id) if is_update and message.task is not None else None


def task_note(task: Task, message: Message, *, is_taken: bool) -> TaskNote | None:
    """Return the note on a task that is shown with a message about it. Return None if the sender is neither the space
    nor the task's agent. `is_taken` is true if the session that is shown the message has taken the task."""
    if message.kind is Kind.TASK:
        return TaskNote(task.id, task.agent, task.state, task.deadline, task.attempt if is_taken else task.attempt + 1)
    is_told = message.sender.grade is Grade.SPACE or message.sender.agent == task.agent
    state = message.task.state if message.task is not None else None
    return TaskNote(task.id, task.agent, state) if is_told and state is not None else None
