"""Flows between agents, and causal trees, in memory."""

from collections.abc import Iterable, Sequence
from datetime import datetime
from itertools import islice

from covey.adapters.memory.table import Order, Shelf, Table, UndoLog
from covey.core.names import MessageId
from covey.core.storms.budget import Tree
from covey.core.storms.flow import Flow, Party


def _flow_places(flow: Flow) -> Iterable[tuple[Shelf, Order]]:
    yield ("from", flow.source), (-flow.exchanged, flow.target)


class MemoryFlows:
    def __init__(self, log: UndoLog) -> None:
        self._table = Table[str, Flow](log, _flow_places)

    async def get(self, source: Party, target: Party) -> Flow | None:
        return self._table.get(_key(source, target))

    async def put(self, flow: Flow) -> None:
        self._table.put(_key(flow.source, flow.target), flow)

    async def strongest(self, source: Party, limit: int) -> Sequence[Flow]:
        return [*islice(self._table.in_order(("from", source)), limit)]

    async def remove(self, source: Party) -> None:
        for flow in self._table.on(("from", source)):
            self._table.remove(_key(flow.source, flow.target))

    async def forget(self, before: datetime, limit: int) -> int:
        old = [*islice((flow for flow in self._table.all() if flow.at < before), limit)]
        for flow in old:
            self._table.remove(_key(flow.source, flow.target))
        return len(old)


def _key(source: Party, target: Party) -> str:
    return f"{source} {target}"


def _tree_places(tree: Tree) -> Iterable[tuple[Shelf, Order]]:
    if tree.is_stopped:
        yield "stopped", 0


class MemoryTrees:
    def __init__(self, log: UndoLog) -> None:
        self._table = Table[MessageId, Tree](log, _tree_places)

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
