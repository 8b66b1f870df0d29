"""Plugins: third-party code that is notified of children. Covey does not depend on its behaviour."""

from enum import StrEnum
from typing import Protocol

from covey.core.run import Run


class Moment(StrEnum):
    SPAWNED = "spawned"
    """A child was started."""
    ENDED = "ended"
    """The child completed its task, or was stopped."""
    FAILED = "failed"
    """The child could not be started, failed, timed out, or is lost."""


class Plugins(Protocol):
    """The plugins of this process. A plugin can't delay or break its caller."""

    @property
    def are_there(self) -> bool:
        """True if there is at least one plugin."""
        ...

    async def tell(self, moment: Moment, run: Run) -> None:
        """Notify each plugin. An exception of a plugin is logged. A plugin that takes longer than a few seconds is not
        waited for. This never raises."""
        ...
