"""Flows between agents in memory."""

from collections.abc import Iterable, Sequence
from datetime import datetime
from itertools import islice

from covey.adapters.memory.table import Order, Shelf, Table
from covey.adapters.memory.undo import UndoLog
from covey.core.flow import Flow, Party


def _places(flow: Flow) -> Iterable[tuple[Shelf, Order]]:
    yield ("from", flow.source), (-flow.exchanged, flow.target)


class MemoryFlows:
    def __init__(self, log: UndoLog) -> None:
        self._table = Table[str, Flow](log, _places)

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
