"""Runs in memory; ended ones stand on the shelves of their session, their request and their parent alone."""

from collections.abc import Iterable, Sequence
from itertools import islice

from covey.adapters.memory.table import Order, Shelf, Table
from covey.adapters.memory.undo import UndoLog
from covey.core.ids import SessionId
from covey.core.names import AgentName
from covey.core.run import Run, RunId
from covey.ports.runs import RunFilter


def _places(run: Run) -> Iterable[tuple[Shelf, Order]]:
    """Orders are all alike: runs stand as they were first put."""
    yield ("session", run.session), 0
    yield ("request", run.request), 0
    if run.parent is not None:
        yield ("children", run.parent), 0
    if not run.has_ended:
        yield ("alive", run.parent_agent), 0
    elif not run.is_told:
        yield "untold", 0
    if run.has_ended and run.folder is not None:
        yield "uncleared", 0


class MemoryRuns:
    def __init__(self, log: UndoLog) -> None:
        self.table = Table[RunId, Run](log, _places)

    async def get(self, run_id: RunId) -> Run | None:
        return self.table.get(run_id)

    async def put(self, run: Run) -> None:
        self.table.put(run.id, run)

    async def of_session(self, session_id: SessionId) -> Run | None:
        return next(self.table.in_order(("session", session_id)), None)

    async def children(self, session_id: SessionId) -> Sequence[Run]:
        return self.table.on(("children", session_id))

    async def alive(self, parent_agent: AgentName) -> int:
        return self.table.count(("alive", parent_agent))

    async def untold(self, limit: int) -> Sequence[Run]:
        return [*islice(self.table.in_order("untold"), limit)]

    async def uncleared(self, limit: int) -> Sequence[Run]:
        return [*islice(self.table.in_order("uncleared"), limit)]

    async def find(self, wanted: RunFilter, limit: int) -> Sequence[Run]:
        newest_first = [*islice((run for run in self.table.newest_first() if wanted.fits(run)), limit)]
        return newest_first[::-1]
