"""Waits in memory."""

from collections.abc import Iterable, Sequence

from covey.adapters.memory.table import Order, Shelf, Table
from covey.adapters.memory.undo import UndoLog
from covey.core.names import AgentName
from covey.core.waits import Awaited, Wait


def _places(wait: Wait) -> Iterable[tuple[Shelf, Order]]:
    yield ("of", wait.asker), wait.what


class MemoryWaits:
    def __init__(self, log: UndoLog) -> None:
        self._table = Table[str, Wait](log, _places)

    async def put(self, wait: Wait) -> None:
        self._table.put(_key(wait.asker, wait.what), wait)

    async def remove(self, asker: AgentName, what: Awaited) -> None:
        if self._table.get(_key(asker, what)) is not None:
            self._table.remove(_key(asker, what))

    async def of(self, asker: AgentName) -> Sequence[Wait]:
        return self._table.on(("of", asker))

    async def all(self) -> Sequence[Wait]:
        return sorted(self._table.all(), key=lambda wait: (wait.asker, wait.what))


def _key(asker: AgentName, what: Awaited) -> str:
    return f"{asker} {what}"
