"""A task's records: its history, its files, its short descriptions, and its JSON documents."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Final, NamedTuple

from covey.core.errors import NotFound
from covey.core.identity import Identity
from covey.core.json import Json
from covey.core.ledger.event import Action, Event
from covey.core.ledger.message import FilePart, Kind, Message
from covey.core.ledger.wire import encode_part
from covey.core.names import MessageId
from covey.core.times import format_instant
from covey.core.work.task import Task, TaskMove
from covey.services.space import Services
from covey.services.tasks.tasks import TaskView
from covey.surfaces.cli.terminal.text import one_line
from covey.surfaces.cli.times import age
from covey.surfaces.cli.views.events import event_document
from covey.surfaces.cli.views.messages import about

STEP_WORDS: Final[Mapping[Action, str]] = {
    Action.MESSAGE_SENT: "delegated",
    Action.TASK_CLAIMED: "taken",
    Action.TASK_MOVED: "",
    Action.TASK_RELEASED: "released",
}
"""Events of the journal that are about a task, each with its word. A move is named by its new state."""

_TOLD: Final = frozenset({TaskMove.PROGRESS, TaskMove.COMPLETE})
"""Moves whose updates have a text worth showing."""


class TaskStep(NamedTuple):
    event: Event
    word: str
    text: str
    """The reason, the progress or the result."""

    @property
    def at(self) -> datetime:
        return self.event.at

    @property
    def actor(self) -> Identity:
        return self.event.actor

    @property
    def attempt(self) -> int | None:
        """The number of the attempt, or None before the first."""
        number = self.event.details.get("attempt")
        return number if isinstance(number, int) and number else None


class Artifact(NamedTuple):
    """A file that came with a task or with an update of it."""

    part: FilePart
    origin: str
    """"task", "progress", or the final state of the task."""
    message_id: MessageId


def is_step(event: Event) -> bool:
    """Return True if an event is about a task."""
    if event.action is Action.MESSAGE_SENT:
        return event.details.get("kind") == Kind.TASK
    return event.action in STEP_WORDS


def is_shown(step: TaskStep) -> bool:
    """Return True if a step is shown to people. The first claim is not: the acceptance shows it."""
    return step.event.action is not Action.TASK_CLAIMED or (step.attempt or 0) > 1


async def step_of(services: Services, event: Event) -> TaskStep:
    """Return an event as a step of its task, with the text of its update."""
    details = event.details
    if event.action is Action.TASK_RELEASED:
        return TaskStep(event, STEP_WORDS[event.action], "its session has ended: it waits for the next one")
    if event.action is not Action.TASK_MOVED:
        return TaskStep(event, STEP_WORDS[event.action], "")
    move = details.get("move")
    word = "progress" if move == TaskMove.PROGRESS else str(details.get("to"))
    update = await update_of(services, event) if move in _TOLD else None
    return TaskStep(event, word, update.text if update else str(details.get("reason") or ""))


async def history(services: Services, task_id: MessageId) -> Sequence[TaskStep]:
    """Return the complete history of a task."""
    steps: list[TaskStep] = []
    after = 0
    while events := await services.tasks.history(task_id, after):
        steps += [await step_of(services, event) for event in events if is_step(event)]
        after = events[-1].position
    return steps


async def artifacts(services: Services, view: TaskView, steps: Sequence[TaskStep]) -> Sequence[Artifact]:
    """Return the files that came with a task and with its updates, in their order."""
    found = _files(view.message, "task")
    for step in steps:
        update = await update_of(services, step.event) if step.event.action is Action.TASK_MOVED else None
        if update is not None:
            found += _files(update, step.word)
    return found


async def update_of(services: Services, event: Event) -> Message | None:
    """Return the update that reported a move, or None if it is pruned or not visible."""
    update = event.details.get("update")
    return await find_message(services, MessageId(update)) if isinstance(update, str) else None


async def find_message(services: Services, message_id: MessageId | None) -> Message | None:
    """Return a message, or None if it does not exist or is not visible."""
    if message_id is None:
        return None
    try:
        return await services.mail.message(message_id)
    except NotFound:
        return None


def _files(message: Message, origin: str) -> list[Artifact]:
    return [Artifact(part, origin, message.id) for part in message.parts if isinstance(part, FilePart)]


def who(task: Task) -> str:
    """Return the delegator and the agent of a task."""
    return f"{task.delegator} → {task.agent}"


def due(task: Task, now: datetime) -> str:
    """Return the time until the deadline, or "" if the task is finished or has none."""
    return "" if task.deadline is None or task.is_finished else age(now, task.deadline)


def title(message: Message) -> str:
    """Return a task on one line: its topic and its text."""
    return ": ".join(filter(None, (about(message), one_line(message.text)))) or "(files only)"


def what(view: TaskView) -> str:
    """Return a task's title, with the reason if it has one."""
    return f"{title(view.message)} ({view.task.reason})" if view.task.reason else title(view.message)


def task_document(view: TaskView, number: int | None = None) -> dict[str, Json]:
    """Return a task: its text and its present state."""
    task, message = view
    return {
        "id": task.id,
        "number": number,
        "state": str(task.state),
        "reason": task.reason,
        "delegator": task.delegator,
        "delegator_session": task.delegator_session,
        "agent": task.agent,
        "scope": task.scope,
        "subject": message.subject,
        "text": message.text,
        "parts": [encode_part(part) for part in message.parts],
        "parent": task.parent,
        "callback": {"channel": message.callback.channel, "conversation": message.callback.session_id}
        if message.callback
        else None,
        "hops_left": message.hops_left,
        "trace": list(message.trace),
        "session": task.claimed_by,
        "attempt": task.attempt,
        "created_at": format_instant(task.created_at),
        "updated_at": format_instant(task.updated_at),
        "deadline": _instant(task.deadline),
        "abandoned_at": _instant(task.abandoned_at),
        "finished_at": _instant(task.finished_at),
        "progress": task.progress,
        "result": task.result,
    }


def step_document(step: TaskStep) -> dict[str, Json]:
    """Return one step of a task's history: the event, and its text for people."""
    return {"what": step.word, "attempt": step.attempt, "text": step.text, **event_document(step.event)}


def artifact_document(artifact: Artifact) -> dict[str, Json]:
    """Return a file that came with a task."""
    name, digest, size, media_type, _ = artifact.part
    return {
        "with": artifact.origin,
        "message": artifact.message_id,
        "name": name,
        "size": size,
        "digest": digest,
        "media_type": media_type,
    }


def tree_document(tree: Sequence[TaskView]) -> dict[str, Json]:
    """Return the tasks of a tree, each with its subtasks. `tree` must have each task after its parent."""
    below: dict[MessageId, list[Json]] = {view.task.id: [] for view in tree}
    nodes: list[dict[str, Json]] = [{**task_document(view), "children": below[view.task.id]} for view in tree]
    for view, node in zip(tree, nodes, strict=True):
        if view.task.parent is not None and view.task.parent in below:
            below[view.task.parent].append(node)
    return nodes[0]


def _instant(at: datetime | None) -> str | None:
    return format_instant(at) if at else None
