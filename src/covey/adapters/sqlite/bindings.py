"""Bindings in SQLite."""

from collections.abc import Sequence

from covey.adapters.sqlite.access import Access
from covey.adapters.sqlite.connection import Row
from covey.adapters.sqlite.records import record_of
from covey.adapters.sqlite.statements import statements
from covey.adapters.sqlite.values import to_instant, to_text
from covey.core.address import parse_address
from covey.core.binding import Binding
from covey.core.names import AgentName

_SQL = statements("bindings")


class SqliteBindings:
    __slots__ = ("_access",)

    def __init__(self, access: Access) -> None:
        self._access = access

    async def get(self, channel: AgentName, conversation: str) -> Binding | None:
        row = self._access.read(_SQL["get"], (channel, conversation)).fetchone()
        return None if row is None else decode_binding(row)

    async def put(self, binding: Binding) -> None:
        row = (binding.channel, binding.conversation, binding.to.value, to_text(binding.bound_at))
        self._access.write(_SQL["put"], row)

    async def remove(self, channel: AgentName, conversation: str) -> None:
        self._access.write(_SQL["remove"], (channel, conversation))

    async def all(self) -> Sequence[Binding]:
        return [decode_binding(row) for row in self._access.read(_SQL["all"])]


@record_of("bindings")
def decode_binding(row: Row) -> Binding:
    """Return the binding of a row."""
    channel, conversation, recipient, bound_at = row
    return Binding(channel, conversation, parse_address(recipient), to_instant(bound_at))
