"""Happenings: events of a worker, in the Python API."""

from collections.abc import Callable
from typing import NamedTuple

from covey.runtime.tasks.events import Moment, WorkerEvent
from covey.surfaces.python.assignment import Assignment


class Happening(NamedTuple):
    moment: Moment
    assignment: Assignment | None
    """The task of the event; None for a problem with the store."""
    text: str = ""


Tell = Callable[[Happening], None]


def happening_of(event: WorkerEvent) -> Happening:
    """Convert an event of a worker."""
    return Happening(event.moment, None if event.task is None else Assignment(event.task), event.text)
