"""Runs in SQLite."""

from collections.abc import Iterable, Sequence
from itertools import islice

import covey.ports as ports
from covey.adapters.sqlite.engine.access import Access
from covey.adapters.sqlite.engine.connection import Row
from covey.adapters.sqlite.engine.statements import statements
from covey.adapters.sqlite.records.values import record_of, to_instant, to_instant_or_none, to_text, to_text_or_null
from covey.core.address import parse_session_key
from covey.core.ids import SessionId
from covey.core.ledger.message import Callback
from covey.core.names import AgentName
from covey.core.work.run import LauncherKind, Run, RunId, RunMode, RunState, Stage

_SQL = statements("runs")


class SqliteRuns:
    __slots__ = ("_access",)

    def __init__(self, access: Access) -> None:
        self._access = access

    async def get(self, run_id: RunId) -> Run | None:
        return self._one("get", run_id)

    async def put(self, run: Run) -> None:
        self._access.write(_SQL["put"], _encode(run))

    async def of_session(self, session_id: SessionId) -> Run | None:
        return self._one("of_session", session_id)

    async def children(self, session_id: SessionId) -> Sequence[Run]:
        return [*self._rows("children", session_id)]

    async def alive(self, parent_agent: AgentName) -> int:
        return int(self._access.read(_SQL["alive"], (parent_agent,)).get)

    async def untold(self, limit: int) -> Sequence[Run]:
        return [*self._rows("untold", limit)]

    async def uncleared(self, limit: int) -> Sequence[Run]:
        return [*self._rows("uncleared", limit)]

    async def find(self, wanted: "ports.RunFilter", limit: int) -> Sequence[Run]:
        newest_first = [*islice((run for run in self._newest(wanted) if wanted.fits(run)), limit)]
        newest_first.reverse()
        return newest_first

    def _newest(self, wanted: "ports.RunFilter") -> Iterable[Run]:
        """Yield runs, the newest first, from the most selective index."""
        if wanted.has_ended is False:
            return self._rows("newest_open")
        if wanted.agent is not None:
            return self._rows("newest_of_agent", wanted.agent)
        if wanted.parent_agent is not None:
            return self._rows("newest_of_parent_agent", wanted.parent_agent)
        return self._rows("newest")

    def _one(self, name: str, value: str) -> Run | None:
        return next(iter(self._rows(name, value)), None)

    def _rows(self, name: str, *values: str | int) -> Iterable[Run]:
        return (decode_run(row) for row in self._access.read(_SQL[name], values))


def _encode(run: Run) -> Row:
    return (
        run.id,
        run.session,
        str(run.key),
        run.agent,
        run.parent_agent,
        run.request,
        run.mode,
        run.launcher,
        run.state,
        to_text(run.started_at),
        run.parent,
        run.sibling_of,
        run.label,
        run.description,
        run.time_limit,
        None if run.thread is None else run.thread.channel,
        None if run.thread is None else run.thread.session_id,
        run.folder,
        run.stage,
        run.stop_reason,
        run.reason,
        to_text_or_null(run.ended_at),
        run.is_told,
    )


@record_of("runs")
def decode_run(row: Row) -> Run:
    """Return the run of a row."""
    (
        run_id,
        session,
        key,
        agent,
        parent_agent,
        request,
        mode,
        launcher,
        state,
        started_at,
        parent,
        sibling_of,
        label,
        description,
        time_limit,
        channel,
        conversation,
        folder,
        stage,
        stop_reason,
        reason,
        ended_at,
        is_told,
    ) = row
    return Run(
        run_id,
        session,
        parse_session_key(key),
        agent,
        parent_agent,
        request,
        RunMode(mode),
        LauncherKind(launcher),
        RunState(state),
        to_instant(started_at),
        parent,
        sibling_of,
        label,
        description,
        time_limit,
        None if channel is None else Callback(channel, conversation),
        folder,
        Stage(stage),
        stop_reason,
        reason,
        to_instant_or_none(ended_at),
        bool(is_told),
    )
