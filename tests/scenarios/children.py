"""Children of scenarios: functions that stand for child programs, and views of their runs."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from typing import Any

from covey import Card
from covey.core.channels.post import Binding
from covey.core.errors import LauncherUnavailable
from covey.core.ledger.event import Action
from covey.core.names import JOURNAL_TOPIC, AgentName
from covey.core.work.run import Run, RunId, RunState, Stage, run_topic
from covey.ports.store import Transaction
from covey.ports.work import RunFilter
from covey.services.act import Act
from covey.services.children.request import SpawnRequest
from covey.services.children.saga import SagaStep
from covey.services.children.stages import SpawnStages
from covey.surfaces.python.member import Child, Errand, Member, python_child
from tests.scenarios.world import LIMIT_S, Process, World, soon


async def obliging(errand: Errand) -> str:
    """Complete the task at once."""
    return f"Done: {errand.task}"


class Patient:
    """A child that waits until a test releases it."""

    def __init__(self) -> None:
        self._go = asyncio.Event()
        self.begun = asyncio.Event()
        self.was_cancelled = False

    async def __call__(self, errand: Errand) -> str:
        self.begun.set()
        errand.report("so far, so good")
        try:
            await self._go.wait()
        except asyncio.CancelledError:
            self.was_cancelled = True
            raise
        return f"Done: {errand.task}"

    def let_go(self) -> None:
        self._go.set()


class FailingStages(SpawnStages):
    """Stages of which one fails after it has done its work."""

    at = Stage.RETURN

    def steps(self) -> tuple[SagaStep, ...]:
        return tuple(self._failing(step) if step.stage is self.at else step for step in super().steps())

    def _failing(self, step: SagaStep) -> SagaStep:
        async def in_ledger(act: Act, run: Run) -> Run:
            if step.in_ledger is not None:
                await step.in_ledger(act, run)
            raise LauncherUnavailable("it is told to fail")

        async def in_world(run: Run) -> None:
            if step.in_world is not None:
                await step.in_world(run)
            raise LauncherUnavailable("it is told to fail")

        is_in_world = step.stage in (Stage.ATTACHMENTS, Stage.WORKSPACE, Stage.LAUNCH, Stage.HOOKS)
        return step._replace(in_world=in_world) if is_in_world else step._replace(in_ledger=in_ledger)


@asynccontextmanager
async def household(world: World) -> AsyncGenerator[World]:
    """End all remaining children on exit."""
    try:
        yield world
    finally:
        await world.end_children()


async def stages_of(world: World, run: Run, action: Action = Action.SPAWN_STAGE) -> Sequence[Stage]:
    """Return the stages that the journal has for a spawn, in order."""
    events = await world.events(action)
    return [Stage(str(event.details["stage"])) for event in events if event.details.get("run") == run.id]


async def all_runs(world: World) -> Sequence[Run]:
    """Return all runs."""
    return [view.run for view in await world.services.runs.find(RunFilter())]


async def alive(world: World) -> Sequence[Run]:
    """Return the runs that have not ended."""
    return [run for run in await all_runs(world) if run.state in (RunState.STARTING, RunState.RUNNING)]


async def lead_of(world: World, **card: Any) -> Member:
    """Let the parent of the scenarios join, in its own process."""
    return await world.process().join("lead", card=Card(**card))


async def spawn_from(process: Process, lead: Member, task: str, handler: Child, **more: Any) -> Run:
    """Start a child of the parent's session from another process, as a CLI command does on behalf of the session."""
    wish = SpawnRequest(task, python=python_child(process.services, handler, None), **more)
    return await process.services.spawning.spawn(wish, lead.identity)


async def ended(world: World, run_id: RunId) -> Run:
    """Wait until a run has ended."""

    async def look() -> Run | None:
        run = (await world.services.runs.view(run_id)).run
        return run if run.has_ended else None

    found = await soon(world.services.waiting.until([run_topic(run_id)], look, LIMIT_S))
    assert found is not None
    return found


async def until(world: World, claim: Callable[[], Awaitable[bool]]) -> None:
    """Wait until a claim is true."""

    async def look() -> bool | None:
        return await claim() or None

    assert await soon(world.services.waiting.until([JOURNAL_TOPIC], look, LIMIT_S))


async def bindings(world: World) -> Sequence[Binding]:
    async def operation(tx: Transaction) -> Sequence[Binding]:
        return await tx.bindings.all()

    return await world.observer.store.read(operation)


async def owed(world: World, name: str) -> int:
    """Return the number of answers that an agent owes."""
    return len(await world.services.dialogue.owed_by(AgentName(name)))
