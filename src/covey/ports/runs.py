"""Runs as records in a transaction."""

from collections.abc import Sequence
from typing import NamedTuple, Protocol

from covey.core.ids import SessionId
from covey.core.names import AgentName
from covey.core.run import Run, RunId


class RunFilter(NamedTuple):
    """Which runs to list; what is None does not matter."""

    agent: AgentName | None = None
    """Whose children they are of: the child's own agent."""
    parent_agent: AgentName | None = None
    has_ended: bool | None = None

    def fits(self, run: Run) -> bool:
        return (
            self.agent in (None, run.agent)
            and self.parent_agent in (None, run.parent_agent)
            and self.has_ended in (None, run.has_ended)
        )


class Runs(Protocol):
    """Runs by id. The cost of what is alive, untold or uncleared does not grow with those that are done with."""

    async def get(self, run_id: RunId) -> Run | None:
        """Return the run, ended or not, or None."""
        ...

    async def put(self, run: Run) -> None:
        """Add the run, or replace what is known of it."""
        ...

    async def of_session(self, session_id: SessionId) -> Run | None:
        """Return the run that has this session, ended or not, or None."""
        ...

    async def children(self, session_id: SessionId) -> Sequence[Run]:
        """Return the runs that a session spawned, ended or not, in the order in which they were first put."""
        ...

    async def alive(self, parent_agent: AgentName) -> int:
        """Return how many children of an agent have not ended, whichever of its sessions spawned them."""
        ...

    async def untold(self, limit: int) -> Sequence[Run]:
        """Return the first `limit` runs that have ended and whose parents do not know it, in the order in which they
        were first put."""
        ...

    async def uncleared(self, limit: int) -> Sequence[Run]:
        """Return the first `limit` runs that have ended and still have a folder, in the order in which they were first
        put."""
        ...

    async def find(self, wanted: RunFilter, limit: int) -> Sequence[Run]:
        """Return the `limit` runs put first last that fit, in the order in which they were first put."""
        ...
