"""Bindings in memory."""

from collections.abc import Sequence

from covey.adapters.memory.table import Table
from covey.adapters.memory.undo import UndoLog
from covey.core.binding import Binding
from covey.core.names import AgentName


class MemoryBindings:
    def __init__(self, log: UndoLog) -> None:
        self._bindings = Table[str, Binding](log)

    async def get(self, channel: AgentName, conversation: str) -> Binding | None:
        return self._bindings.get(_key(channel, conversation))

    async def put(self, binding: Binding) -> None:
        self._bindings.put(_key(binding.channel, binding.conversation), binding)

    async def remove(self, channel: AgentName, conversation: str) -> None:
        if self._bindings.get(_key(channel, conversation)) is not None:
            self._bindings.remove(_key(channel, conversation))

    async def all(self) -> Sequence[Binding]:
        return sorted(self._bindings.all(), key=lambda binding: (binding.channel, binding.conversation))


def _key(channel: AgentName, conversation: str) -> str:
    return f"{channel} {conversation}"
