"""Runs as the holder of an agent's token sees them: the children that it started, and those of its own agent."""

from collections.abc import Sequence

from covey.core.identity import Identity
from covey.core.ids import SessionId
from covey.core.names import AgentName
from covey.core.run import Run, RunId
from covey.ports.runs import RunFilter
from covey.ports.store import Transaction


class NarrowRuns:
    def __init__(self, tx: Transaction, holder: Identity) -> None:
        self._tx = tx
        self._holder = holder

    async def get(self, run_id: RunId) -> Run | None:
        return self._own(await self._tx.runs.get(run_id))

    async def put(self, run: Run) -> None:
        raise RuntimeError("a read does not write: use commit")

    async def of_session(self, session_id: SessionId) -> Run | None:
        return self._own(await self._tx.runs.of_session(session_id))

    async def children(self, session_id: SessionId) -> Sequence[Run]:
        return [run for run in await self._tx.runs.children(session_id) if self._is_own(run)]

    async def alive(self, parent_agent: AgentName) -> int:
        return await self._tx.runs.alive(parent_agent)

    async def untold(self, limit: int) -> Sequence[Run]:
        return await self._tx.runs.untold(limit)

    async def uncleared(self, limit: int) -> Sequence[Run]:
        return await self._tx.runs.uncleared(limit)

    async def find(self, wanted: RunFilter, limit: int) -> Sequence[Run]:
        """Return the holder's runs, as parent or as child."""
        me = self._holder.agent
        started = (
            await self._tx.runs.find(wanted._replace(parent_agent=me), limit)
            if wanted.parent_agent in (None, me)
            else ()
        )
        own = await self._tx.runs.find(wanted._replace(agent=me), limit) if wanted.agent in (None, me) else ()
        both = {run.id: run for run in (*started, *own)}
        return sorted(both.values(), key=lambda run: (run.started_at, run.id))[-limit:]

    def _own(self, run: Run | None) -> Run | None:
        return run if run is not None and self._is_own(run) else None

    def _is_own(self, run: Run) -> bool:
        return self._holder.agent in (run.agent, run.parent_agent)
