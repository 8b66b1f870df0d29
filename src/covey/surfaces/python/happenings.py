"""Happenings: what a worker tells of its tasks while it works."""

from collections.abc import Callable
from enum import StrEnum
from typing import NamedTuple

from covey.surfaces.python.assignment import Assignment


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


class Happening(NamedTuple):
    moment: Moment
    assignment: Assignment | None
    """The task that it is about; None for what is about none."""
    text: str = ""


Tell = Callable[[Happening], None]


def tell_nobody(_: Happening) -> None:
    """Keep it to oneself."""
