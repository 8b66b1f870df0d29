"""The story of a task: each move with its actor, and the files that came along."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Final, NamedTuple

from covey.core.errors import NotFound
from covey.core.identity import Identity
from covey.core.ids import MessageId
from covey.core.ledger.event import Action, Event
from covey.core.ledger.message import FilePart, Kind, Message
from covey.core.work.task import TaskMove
from covey.services.space import Services
from covey.services.tasks.tasks import TaskView

WORDS: Final[Mapping[Action, str]] = {
    Action.MESSAGE_SENT: "delegated",
    Action.TASK_CLAIMED: "taken",
    Action.TASK_MOVED: "",
    Action.TASK_RELEASED: "released",
}
"""Events of the journal that are about a task, each with its word. A move is named by its new state."""

_TOLD: Final = frozenset({TaskMove.PROGRESS, TaskMove.COMPLETE})
"""Moves whose updates have a text worth showing."""


class Step(NamedTuple):
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
    return event.action in WORDS


def is_told(step: Step) -> bool:
    """Return True if a step is shown to people. The first claim is not: the acceptance shows it."""
    return step.event.action is not Action.TASK_CLAIMED or (step.attempt or 0) > 1


async def step_of(services: Services, event: Event) -> Step:
    """Return an event as a step of its task, with the text of its update."""
    details = event.details
    if event.action is Action.TASK_RELEASED:
        return Step(event, WORDS[event.action], "its session has ended: it waits for the next one")
    if event.action is not Action.TASK_MOVED:
        return Step(event, WORDS[event.action], "")
    move = details.get("move")
    word = "progress" if move == TaskMove.PROGRESS else str(details.get("to"))
    update = await update_of(services, event) if move in _TOLD else None
    return Step(event, word, update.text if update else str(details.get("reason") or ""))


async def story(services: Services, task_id: MessageId) -> Sequence[Step]:
    """Return the complete history of a task."""
    steps: list[Step] = []
    after = 0
    while events := await services.tasks.history(task_id, after):
        steps += [await step_of(services, event) for event in events if is_step(event)]
        after = events[-1].position
    return steps


async def artifacts(services: Services, view: TaskView, steps: Sequence[Step]) -> Sequence[Artifact]:
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
    return await said(services, MessageId(update)) if isinstance(update, str) else None


async def said(services: Services, message_id: MessageId | None) -> Message | None:
    """Return a message, or None if it does not exist or is not visible."""
    if message_id is None:
        return None
    try:
        return await services.mail.message(message_id)
    except NotFound:
        return None


def _files(message: Message, origin: str) -> list[Artifact]:
    return [Artifact(part, origin, message.id) for part in message.parts if isinstance(part, FilePart)]
