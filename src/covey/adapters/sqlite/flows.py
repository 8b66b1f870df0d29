"""Flows between agents in SQLite."""

from collections.abc import Sequence
from datetime import datetime

from covey.adapters.sqlite.access import Access
from covey.adapters.sqlite.connection import Row
from covey.adapters.sqlite.statements import statements
from covey.adapters.sqlite.values import to_instant, to_text
from covey.core.flow import Flow, Party

_SQL = statements("flows")


class SqliteFlows:
    __slots__ = ("_access",)

    def __init__(self, access: Access) -> None:
        self._access = access

    async def get(self, source: Party, target: Party) -> Flow | None:
        row = self._access.read(_SQL["get"], (source, target)).fetchone()
        return None if row is None else _decode(row)

    async def put(self, flow: Flow) -> None:
        source, target, at, samples, initiative, exchanged, themes = flow
        row = (source, target, to_text(at), " ".join(map(str, samples)), initiative, exchanged, " ".join(themes))
        self._access.write(_SQL["put"], row)

    async def strongest(self, source: Party, limit: int) -> Sequence[Flow]:
        return [_decode(row) for row in self._access.read(_SQL["strongest"], (source, limit))]

    async def remove(self, source: Party) -> None:
        self._access.write(_SQL["remove"], (source,))

    async def forget(self, before: datetime, limit: int) -> int:
        return sum(1 for _ in self._access.write(_SQL["forget"], (to_text(before), limit)))


def _decode(row: Row) -> Flow:
    source, target, at, samples, initiative, exchanged, themes = row
    places = tuple(map(int, samples.split()))
    return Flow(source, target, to_instant(at), places, initiative, exchanged, tuple(themes.split()))
