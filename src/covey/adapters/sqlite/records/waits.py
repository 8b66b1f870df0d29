"""Waits in SQLite."""

from collections.abc import Sequence

from covey.adapters.sqlite.engine.access import Access
from covey.adapters.sqlite.engine.connection import Row
from covey.adapters.sqlite.engine.statements import statements
from covey.adapters.sqlite.records.values import record_of, to_instant, to_text
from covey.core.ledger.waits import Awaited, Wait
from covey.core.names import AgentName

_SQL = statements("waits")


class SqliteWaits:
    __slots__ = ("_access",)

    def __init__(self, access: Access) -> None:
        self._access = access

    async def put(self, wait: Wait) -> None:
        since, until = to_text(wait.since), to_text(wait.until)
        row = (wait.asker, wait.what, wait.session, since, until, wait.blocks, wait.takes_questions)
        self._access.write(_SQL["put"], row)

    async def remove(self, asker: AgentName, what: Awaited) -> None:
        self._access.write(_SQL["remove"], (asker, what))

    async def of(self, asker: AgentName) -> Sequence[Wait]:
        return [_decode(row) for row in self._access.read(_SQL["of"], (asker,))]

    async def all(self) -> Sequence[Wait]:
        return [_decode(row) for row in self._access.read(_SQL["all"])]


@record_of("waits")
def _decode(row: Row) -> Wait:
    asker, what, session, since, until, blocks, takes_questions = row
    return Wait(asker, what, session, to_instant(since), to_instant(until), blocks == 1, takes_questions == 1)
