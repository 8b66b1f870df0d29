"""Causal trees: a collection of records in a transaction."""

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol

from covey.core.ids import MessageId
from covey.core.storm import Tree


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
