"""Events of a worker: what happens to its tasks while it works."""

from collections.abc import Callable
from enum import StrEnum
from typing import NamedTuple

from covey.runtime.tasks.held import HeldTask


class Moment(StrEnum):
    TAKEN = "taken"
    STARTED = "started"
    PROGRESS = "progress"
    """How far it is, where the handler tells it."""
    COMPLETED = "completed"
    FAILED = "failed"
    OVER = "over"
    """Others have ended it: it was cancelled, its deadline passed, or another session has it."""
    LEFT = "left"
    """The worker ends first, and leaves it for the next session."""
    TROUBLE = "trouble"
    """The store can't be used for a moment; the worker tries again."""


class WorkerEvent(NamedTuple):
    moment: Moment
    task: HeldTask | None
    """The task of the event; None for trouble with the store."""
    text: str = ""


Tell = Callable[[WorkerEvent], None]


def trouble(tell: Tell) -> Callable[[str], None]:
    """Return a function that tells of each failure of the store."""
    return lambda message: tell(WorkerEvent(Moment.TROUBLE, None, message))
