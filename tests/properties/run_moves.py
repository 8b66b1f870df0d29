"""Moves of children: starting them, their ends, and stopping them. No child runs: a test decides its outcome."""

from collections.abc import Callable
from typing import Final

from hypothesis import strategies as st

from covey.core.identity import Identity
from covey.core.names import AgentName
from covey.core.work.run import ENDED, Run, RunState
from covey.ports.children import ChildResult, ChildWork, PythonChild
from covey.ports.work import RunFilter
from covey.services.children.request import SpawnRequest
from tests.properties.draws import names, often, seldom, which
from tests.properties.moves import move
from tests.properties.twins import NotPossible, Twins
from tests.properties.world import PROCESSES


async def _nothing(errand: ChildWork, report: Callable[[str], None]) -> ChildResult:
    del errand, report
    return ChildResult(RunState.COMPLETED)


CALLABLE: Final = PythonChild(_nothing)
ends = st.sampled_from(sorted(ENDED - {RunState.LOST}))
processes = st.integers(0, PROCESSES - 1)


class RunMoves(Twins):
    @move(5, who=which, agent=st.none() | names, process=processes, as_sibling=seldom, relays=seldom, cause=which)
    def spawn(
        self, who: int, agent: AgentName | None, process: int, as_sibling: bool, relays: bool, cause: int
    ) -> None:
        """Start a child, sometimes as a sibling. Its process may die later."""
        wish = SpawnRequest(
            f"errand {len(self.messages)}",
            agent=agent,
            is_sibling=as_sibling,
            relaying=self.message(cause) if relays else None,
            python=CALLABLE,
        )
        actor = self.actor(who)
        run = self.both(lambda services: services.spawning.spawn(wish, actor), process)
        if run is not None:
            session = self.both(lambda services: services.directory.session(run.session))
            assert session is not None
            self.sessions.append(session)

    @move(3, run=which, state=ends)
    def come_to_an_end(self, run: int, state: RunState) -> None:
        chosen = self.run(run)
        product = ChildResult(state, "so far", reason="" if state is RunState.COMPLETED else "it had to be")
        self.both(lambda services: services.supervision.end(chosen.id, product))

    @move(2, run=which, stranger=seldom, who=which)
    def stop(self, run: int, stranger: bool, who: int) -> None:
        """Ask a child to stop. It may have ended or not."""
        chosen = self.run(run)
        actor = self.actor(who) if stranger else Identity(chosen.parent_agent, chosen.parent)
        self.both(lambda services: services.spawning.stop(chosen.id, actor, "a test", 0))

    @move(2, run=which, as_parent=often, who=which)
    def await_child(self, run: int, as_parent: bool, who: int) -> None:
        """Ask for a result with a timeout of zero."""
        chosen = self.run(run)
        actor = Identity(chosen.parent_agent, chosen.parent) if as_parent else self.actor(who)
        self.both(lambda services: services.spawning.result(chosen.id, actor, 0))

    @move(1, run=which, agent=names, has_ended=st.sampled_from((None, True, False)))
    def look_at_runs(self, run: int, agent: AgentName, has_ended: bool | None) -> None:
        chosen = self.run(run)
        self.both(lambda services: services.runs.view(chosen.id))
        self.both(lambda services: services.runs.events(chosen.id))
        self.both(lambda services: services.runs.history(chosen.id))
        self.both(lambda services: services.runs.find(RunFilter(agent=agent, has_ended=has_ended), 3))
        self.both(lambda services: services.runs.find(RunFilter(parent_agent=agent, has_ended=has_ended), 3))
        parent = chosen.parent
        if parent is not None:
            self.both(lambda services: services.runs.tree(parent))

    def run(self, index: int) -> Run:
        """Pick a run; those that have not ended come first, the newest of them at the front."""
        if self.before is None:
            raise NotPossible
        return self.pick(sorted(self.before.runs, key=lambda run: not run.has_ended), index)
