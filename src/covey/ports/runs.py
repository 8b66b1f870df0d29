"""Runs: a collection of records in a transaction."""

from collections.abc import Sequence
from typing import NamedTuple, Protocol

from covey.core.ids import SessionId
from covey.core.names import AgentName
from covey.core.run import Run, RunId


class RunFilter(NamedTuple):
    """A filter for runs. Fields that are None match everything."""

    agent: AgentName | None = None
    """The child's own agent."""
    parent_agent: AgentName | None = None
    has_ended: bool | None = None

    def fits(self, run: Run) -> bool:
        return (
            self.agent in (None, run.agent)
            and self.parent_agent in (None, run.parent_agent)
            and self.has_ended in (None, run.has_ended)
        )


class Runs(Protocol):
    """Runs by id. The cost of `alive`, `untold` and `uncleared` does not grow with runs that need no more work."""

    async def get(self, run_id: RunId) -> Run | None:
        """Return the run, ended or not, or None."""
        ...

    async def put(self, run: Run) -> None:
        """Add or replace the run."""
        ...

    async def of_session(self, session_id: SessionId) -> Run | None:
        """Return the run that has this session, ended or not, or None."""
        ...

    async def children(self, session_id: SessionId) -> Sequence[Run]:
        """Return the runs that a session spawned, ended or not, in the order in which they were first put."""
        ...

    async def alive(self, parent_agent: AgentName) -> int:
        """Return the number of children of an agent that have not ended, over all its sessions."""
        ...

    async def untold(self, limit: int) -> Sequence[Run]:
        """Return the first `limit` runs that have ended and whose parents were not told, in the order in which they
        were first put."""
        ...

    async def uncleared(self, limit: int) -> Sequence[Run]:
        """Return the first `limit` runs that have ended and still have a folder, in the order in which they were first
        put."""
        ...

    async def find(self, wanted: RunFilter, limit: int) -> Sequence[Run]:
        """Return the newest `limit` matching runs, in the order in which they were first put."""
        ...
