"""Waits of sessions: a collection of records in a transaction."""

from collections.abc import Sequence
from typing import Protocol

from covey.core.names import AgentName
from covey.core.waits import Awaited, Wait


class Waits(Protocol):
    """The waits of each agent, one for each awaited ticket or task. Callers check which of them have timed out."""

    async def put(self, wait: Wait) -> None:
        """Add the wait, or replace the one of the same agent for the same ticket or task."""
        ...

    async def remove(self, asker: AgentName, what: Awaited) -> None:
        """Remove a wait, if it exists."""
        ...

    async def of(self, asker: AgentName) -> Sequence[Wait]:
        """Return the waits of an agent, by the awaited id. The cost does not grow with the waits of other agents."""
        ...

    async def all(self) -> Sequence[Wait]:
        """Return every wait, by agent, then by the awaited id."""
        ...
