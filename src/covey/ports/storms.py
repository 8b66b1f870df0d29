"""Causal trees: a collection of records in a transaction."""

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol

from covey.core.ids import MessageId
from covey.core.storms.budget import Tree
from covey.core.storms.flow import Flow, Party


class Trees(Protocol):
    """Causal trees by their roots. A message that led to no other message has no tree."""

    async def get(self, root: MessageId) -> Tree | None:
        """Return the tree, or None."""
        ...

    async def put(self, tree: Tree) -> None:
        """Add or replace the tree."""
        ...

    async def stopped(self) -> Sequence[Tree]:
        """Return the stopped trees (`Tree.is_stopped`), the one that grew last first. The cost does not grow with other
        trees."""
        ...

    async def since(self, at: datetime, limit: int) -> Sequence[Tree]:
        """Return the first `limit` trees that grew at that time or later, the one that grew last first."""
        ...

    async def forget(self, before: datetime, limit: int) -> int:
        """Remove up to `limit` trees that are not stopped and last grew before that time; return their number."""
        ...


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
