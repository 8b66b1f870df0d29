"""Children of the other agents in a story of a token's holder. Each text about them has a unique mark."""

from collections.abc import Callable
from random import Random

from covey.core.identity import Identity
from covey.core.names import AgentName
from covey.core.work.run import RunState
from covey.ports.children import ChildResult, ChildWork, PythonChild
from covey.ports.work import RunFilter
from covey.services.children.request import SpawnRequest
from covey.services.space import Services
from tests.properties.holder_work import Mark
from tests.properties.world import finish


async def nothing(errand: ChildWork, report: Callable[[str], None]) -> ChildResult:
    """Stand for a child whose outcome a test decides."""
    del errand, report
    return ChildResult(RunState.COMPLETED)


def raise_child(services: Services, who: Identity, agent: AgentName | None, random: Random, mark: Mark) -> None:
    """Let an agent start a child, or let a child end."""
    if random.random() < 0.5:
        wish = SpawnRequest("do what only they know", agent=agent, python=PythonChild(nothing))
        run = finish(services.spawning.spawn(wish, who))
        finish(services.spawning.stop(run.id, who, mark(run.request, None), 0))
        return
    alive = finish(services.runs.find(RunFilter(has_ended=False)))
    if alive:
        run = random.choice(alive).run
        said = mark(run.request, None)
        finish(services.supervision.end(run.id, ChildResult(RunState.FAILED, said, reason=said)))
