"""Causal trees as records in a transaction."""

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol

from covey.core.ids import MessageId
from covey.core.storm import Tree


class Trees(Protocol):
    """What is known of causal trees, by their roots. A message that led to nothing has no tree."""

    async def get(self, root: MessageId) -> Tree | None:
        """Return the tree, or None."""
        ...

    async def put(self, tree: Tree) -> None:
        """Add the tree, or replace what is known of it."""
        ...

    async def stopped(self) -> Sequence[Tree]:
        """Return the trees that are stopped (`Tree.is_stopped`), the one that grew last first. The cost does not grow
        with others."""
        ...

    async def since(self, at: datetime, limit: int) -> Sequence[Tree]:
        """Return the first `limit` trees that grew at that time or later, the one that grew last first."""
        ...

    async def forget(self, before: datetime, limit: int) -> int:
        """Remove up to `limit` trees that are not stopped and last grew before that time; return how many."""
        ...
