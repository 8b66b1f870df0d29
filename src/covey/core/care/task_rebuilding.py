"""Rebuilding of a missing task record, from its message and the journal."""

from collections.abc import Iterable

from covey.core.care.account import TaskAccount
from covey.core.care.replay import TaskReplay
from covey.core.errors import CoveyError
from covey.core.ids import MessageId
from covey.core.ledger.event import Action, Event
from covey.core.ledger.message import Message
from covey.core.names import AgentName
from covey.core.work.task import Task, TaskState


def rebuilt(message: Message, agent: AgentName, parent: MessageId | None, events: Iterable[Event]) -> Task:
    """Return the task that a message handed to an agent, in the state that follows from the events of the message. Skip
    events that can't follow the earlier ones."""
    replay = TaskReplay()
    updated_at = message.created_at
    for event in events:
        step = replay.sent if event.action is Action.MESSAGE_SENT else replay.steps.get(event.action)
        if step is not None:
            try:
                step(event)
            except (CoveyError, LookupError, ValueError):
                continue
            updated_at = event.at
    account = replay.tasks.get(message.id, TaskAccount(TaskState.PENDING))
    return Task(
        id=message.id,
        delegator=message.sender.agent,
        agent=agent,
        created_at=message.created_at,
        updated_at=updated_at,
        delegator_session=message.sender.session,
        parent=parent,
        scope=message.scope,
        deadline=message.deadline,
        **account._asdict(),
    )
