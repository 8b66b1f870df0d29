"""Flows between agents: a collection of records in a transaction."""

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol

from covey.core.flow import Flow, Party


class Flows(Protocol):
    """The sampled flows, one for each source and target."""

    async def get(self, source: Party, target: Party) -> Flow | None:
        """Return the flow, or None."""
        ...

    async def put(self, flow: Flow) -> None:
        """Add the flow, or replace the one with the same source and target."""
        ...

    async def strongest(self, source: Party, limit: int) -> Sequence[Flow]:
        """Return the first `limit` flows of a source, by descending `exchanged`, then by target. The cost does not grow
        with the flows of other sources."""
        ...

    async def remove(self, source: Party) -> None:
        """Remove all flows of a source, if there are any."""
        ...

    async def forget(self, before: datetime, limit: int) -> int:
        """Remove up to `limit` flows whose last sample is older than `before`; return their number."""
        ...
