"""Waits as records in a transaction: who does nothing until something has come."""

from collections.abc import Sequence
from typing import Protocol

from covey.core.names import AgentName
from covey.core.waits import Awaited, Wait


class Waits(Protocol):
    """The waits of each agent, one for each thing that it waits for. Whoever reads them judges which have run out."""

    async def put(self, wait: Wait) -> None:
        """Add the wait, or replace that of the same agent for the same thing."""
        ...

    async def remove(self, asker: AgentName, what: Awaited) -> None:
        """Forget a wait. One that is not there changes nothing."""
        ...

    async def of(self, asker: AgentName) -> Sequence[Wait]:
        """Return the waits of an agent, by what it waits for. The cost does not grow with those of others."""
        ...

    async def all(self) -> Sequence[Wait]:
        """Return every wait, by agent, then by what it waits for."""
        ...
