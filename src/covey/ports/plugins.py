"""Plugins: other people's code that is told of children. Whatever it does, nothing here depends on it."""

from enum import StrEnum
from typing import Protocol

from covey.core.run import Run


class Moment(StrEnum):
    SPAWNED = "spawned"
    """A child was started."""
    ENDED = "ended"
    """It has done its task, or was stopped."""
    FAILED = "failed"
    """It could not be started, failed, took too long, or is lost."""


class Plugins(Protocol):
    """The plugins of this process. None of them can hold up or break what tells them."""

    @property
    def are_there(self) -> bool:
        """Whether there is anybody to tell."""
        ...

    async def tell(self, moment: Moment, run: Run) -> None:
        """Tell each of them. One that raises is logged; one that takes longer than a few seconds is left alone with it.
        Never raises."""
        ...
