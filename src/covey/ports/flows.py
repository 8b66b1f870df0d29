"""Flows between agents as records in a transaction."""

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
        """Add the flow, or replace that of the same source and target."""
        ...

    async def strongest(self, source: Party, limit: int) -> Sequence[Flow]:
        """Return the first `limit` flows of a source: those that exchanged most, then by target. The cost does not grow
        with flows of others."""
        ...

    async def remove(self, source: Party) -> None:
        """Remove all flows of a source. Where there is none, nothing changes."""
        ...

    async def forget(self, before: datetime, limit: int) -> int:
        """Remove up to `limit` flows whose last sample was taken before that time; return how many."""
        ...
