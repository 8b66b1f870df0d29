"""Settings in memory."""

from covey.adapters.memory.table import Table
from covey.adapters.memory.undo import UndoLog


class MemorySettings:
    def __init__(self, log: UndoLog) -> None:
        self._settings = Table[str, str](log)

    async def get(self, name: str) -> str | None:
        return self._settings.get(name)

    async def put(self, name: str, value: str) -> None:
        self._settings.put(name, value)
