"""Causal trees in memory."""

from collections.abc import Iterable, Sequence
from datetime import datetime
from itertools import islice

from covey.adapters.memory.table import Order, Shelf, Table
from covey.adapters.memory.undo import UndoLog
from covey.core.ids import MessageId
from covey.core.storm import Tree


def _places(tree: Tree) -> Iterable[tuple[Shelf, Order]]:
    if tree.is_stopped:
        yield "stopped", 0


class MemoryTrees:
    def __init__(self, log: UndoLog) -> None:
        self._table = Table[MessageId, Tree](log, _places)

    async def get(self, root: MessageId) -> Tree | None:
        return self._table.get(root)

    async def put(self, tree: Tree) -> None:
        self._table.put(tree.root, tree)

    async def stopped(self) -> Sequence[Tree]:
        return _latest(self._table.on("stopped"))

    async def since(self, at: datetime, limit: int) -> Sequence[Tree]:
        return _latest(tree for tree in self._table.all() if tree.updated_at >= at)[:limit]

    async def forget(self, before: datetime, limit: int) -> int:
        old = [tree for tree in self._table.all() if tree.updated_at < before and not tree.is_stopped]
        gone = [*islice(old, limit)]
        for tree in gone:
            self._table.remove(tree.root)
        return len(gone)


def _latest(trees: Iterable[Tree]) -> Sequence[Tree]:
    return sorted(trees, key=lambda tree: (tree.updated_at, tree.root), reverse=True)
