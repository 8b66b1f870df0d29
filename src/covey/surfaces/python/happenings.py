"""Happenings: events of a worker, as a Python program is told of them."""

from collections.abc import Callable
from typing import NamedTuple

from covey.runtime.tasks.events import Moment, WorkerEvent
from covey.surfaces.python.assignment import Assignment


class Happening(NamedTuple):
    moment: Moment
    assignment: Assignment | None
    """The task of the event; None for trouble with the store."""
    text: str = ""


Tell = Callable[[Happening], None]


def happening_of(event: WorkerEvent) -> Happening:
    """Return an event of a worker for its program."""
    return Happening(event.moment, None if event.task is None else Assignment(event.task), event.text)
