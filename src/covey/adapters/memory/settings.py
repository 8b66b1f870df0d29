"""Settings in memory."""

from collections.abc import Callable, Sequence

from covey.adapters.memory.table import Table
from covey.adapters.memory.undo import UndoLog


class MemorySettings:
    def __init__(self, log: UndoLog, changed: Callable[[], None]) -> None:
        self._changed = changed
        self._settings = Table[str, tuple[str, str]](log)

    async def get(self, name: str) -> str | None:
        setting = self._settings.get(name)
        return setting[1] if setting else None

    async def put(self, name: str, value: str) -> None:
        self._settings.put(name, (name, value))
        self._changed()

    def all(self) -> Sequence[tuple[str, str]]:
        """Return every setting, by name."""
        return sorted(self._settings.all())
