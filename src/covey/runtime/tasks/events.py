"""Events of a worker, about its tasks and its store."""

from collections.abc import Callable
from enum import StrEnum
from typing import NamedTuple

from covey.runtime.tasks.held import HeldTask


class Moment(StrEnum):
    TAKEN = "taken"
    STARTED = "started"
    PROGRESS = "progress"
    """The handler reports progress."""
    COMPLETED = "completed"
    FAILED = "failed"
    OVER = "over"
    """The task ended elsewhere: it was cancelled, its deadline passed, or another session has it."""
    LEFT = "left"
    """The worker ends first, and leaves the task for the next session."""
    TROUBLE = "trouble"
    """The store is temporarily unavailable; the worker retries."""


class WorkerEvent(NamedTuple):
    moment: Moment
    task: HeldTask | None
    """The task of the event; None for trouble with the store."""
    text: str = ""


Tell = Callable[[WorkerEvent], None]


def trouble(tell: Tell) -> Callable[[str], None]:
    """Return a function that reports each failure of the store as an event."""
    return lambda message: tell(WorkerEvent(Moment.TROUBLE, None, message))
