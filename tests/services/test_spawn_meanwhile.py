"""Events during the start of a child: no request to stop is lost, and an ended child does not start."""

from collections.abc import Awaitable, Callable

import pytest

from covey.adapters.memory import MemoryStore
from covey.core.directory.card import Card
from covey.core.errors import IllegalMove
from covey.core.identity import Grade, Identity
from covey.core.names import OPERATOR
from covey.core.work.run import Run, RunState
from covey.ports.children import ChildWork
from covey.ports.work import RunFilter
from covey.services.children.request import SpawnRequest
from covey.services.space import Services
from tests.properties.nursery import Nursery
from tests.properties.world import finish
from tests.services.pruning import BOB, Story

BOSS = Identity(OPERATOR, None, Grade.TOKEN)


class Busy(Nursery):
    """A launcher that runs a callback while a program is started."""

    def __init__(self, meanwhile: Callable[[Run], Awaitable[object]]) -> None:
        self._meanwhile = meanwhile
        self.aborted: list[Run] = []

    async def launch(self, errand: ChildWork) -> None:
        await self._meanwhile(errand.child.run)

    async def abort(self, run: Run, why: str) -> None:
        del why
        self.aborted.append(run)


def spawned(story: Story, busy: Busy) -> Run:
    services = Services(story.world.processes[0].ports, launching=lambda _: busy)
    finish(services.directory.register(BOB, Card(command=("work", "{prompt}")), BOSS))
    return finish(services.spawning.spawn(SpawnRequest("look", agent=BOB), story.ann))


def test_a_stop_request_before_a_child_runs_is_kept() -> None:
    story = Story(MemoryStore())
    run = spawned(story, Busy(lambda run: story.services.spawning.stop(run.id, BOSS, "not needed", 0)))
    assert (run.state, run.stop_reason) == (RunState.RUNNING, "not needed")
    assert finish(story.services.spawning.run(run.id)) == run


def test_a_child_whose_session_ends_before_it_runs_never_does() -> None:
    story = Story(MemoryStore())

    async def leave(run: Run) -> None:
        await story.services.directory.leave(Identity(run.agent, run.session, Grade.SESSION))

    busy = Busy(leave)
    with pytest.raises(IllegalMove, match="lost"):
        spawned(story, busy)
    (view,) = finish(story.services.runs.find(RunFilter()))
    assert view.run.state is RunState.LOST
    assert [run.id for run in busy.aborted] == [view.run.id]
    finish(story.services.upkeep.tend())
    assert finish(story.services.spawning.run(view.run.id)).is_told
    assert story.audit() == []
