"""Invariants of tasks: each move is reported once, and no quota is exceeded."""

from collections import Counter
from datetime import datetime

from covey.core.identity import THE_SPACE
from covey.core.ledger.event import Action, Event
from covey.core.ledger.message import Kind, Message
from covey.core.names import AgentName, MessageId
from covey.core.work.task import ACTIVE, FINISHED, Task, TaskMove, task_at
from tests.properties.sameness import Snapshot


def check_tasks(before: Snapshot | None, after: Snapshot, now: datetime) -> None:
    """Fail if a move was not reported, something was reported twice, or an agent got more than its quota."""
    updates: dict[MessageId, list[Message]] = {}
    for message in after.messages.values():
        if message is not None and message.kind is Kind.UPDATE and _is_about_task(message):
            updates.setdefault(MessageId(str(message.in_reply_to)), []).append(message)
    for task in after.tasks.values():
        _check_told(task, updates.get(task.id, []), after)
    if before is not None:
        _check_quotas(before, after, now)


def _is_about_task(update: Message) -> bool:
    """Return whether the update is about the task that it answers. An answer to an update is about the task too."""
    return update.task is not None and update.task.id == update.in_reply_to


def _check_told(task: Task, updates: list[Message], space: Snapshot) -> None:
    """Check for one update per move. Further updates report that the task was abandoned, or tell its holder to stop."""
    events = [event for event in space.events if event.message_id == task.id]
    moves = [event for event in events if event.action is Action.TASK_MOVED]
    told = [event.details["update"] for event in moves]
    others = [update for update in updates if update.id not in told]
    assert len(set(told)) == len(moves)
    assert len(updates) == len(told) + len(others), f"{task.id}: an update is missing"
    assert all(update.sender == THE_SPACE for update in others), f"{task.id}: somebody told of what never happened"
    stops = [update for update in others if "Stop working" in update.text]
    lefts = [event for event in events if event.action is Action.TASK_RELEASED and event.details["state"] != "pending"]
    abandoned = len(others) - len(stops)
    assert abandoned <= len(lefts), f"{task.id}: told of an end that was none"
    if task.abandoned_at is not None and task.is_told:
        assert abandoned, f"{task.id}: nobody was told that it is abandoned"
    assert len(stops) == sum(_is_stop(task, event) for event in moves), f"{task.id}: who had it was not told to stop"


def _is_stop(task: Task, event: Event) -> bool:
    """Return whether a move ended a task for a holder that did not end the task itself."""
    details = event.details
    is_by_worker = event.actor.agent == task.agent and details["move"] not in (TaskMove.CANCEL, TaskMove.LAPSE)
    is_held = details["from"] in ACTIVE or details["session"] is not None
    return details["to"] in FINISHED and is_held and not is_by_worker


def _check_quotas(before: Snapshot, after: Snapshot, now: datetime) -> None:
    """Check that an agent over its quota got no further task: only a lowered quota puts an agent over it."""
    held, earlier = _held(after, now), _held(before, now)
    for agent in after.agents:
        assert held[agent.name] <= max(agent.card.quota, earlier[agent.name]), f"{agent.name} is over its quota"


def _held(space: Snapshot, now: datetime) -> Counter[AgentName]:
    return Counter(task.agent for task in space.tasks.values() if task_at(task, now).is_held)
