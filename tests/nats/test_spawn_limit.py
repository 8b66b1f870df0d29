"""The limit of children is one number for an agent, over its sessions on all machines."""

import asyncio
from pathlib import Path

import covey
from covey.core.errors import SpawnLimit
from covey.core.work.run import RunState
from covey.ports.work import RunFilter
from covey.surfaces.python.member import Errand

LIMIT_S = 30.0


async def test_sessions_on_two_replicas_that_spawn_at_once_have_five_children_together(
    place: str, tmp_path: Path
) -> None:
    done = asyncio.Event()

    async def wait(errand: Errand) -> str:
        await done.wait()
        return errand.task

    urls = [f"nats://{place}?cache={tmp_path / name}" for name in ("one", "two")]
    async with asyncio.timeout(LIMIT_S), covey.open(urls[0]) as here, covey.open(urls[1]) as there:
        leads = [await space.join("lead") for space in (here, there, here, there)]
        wishes = [lead.spawn("Wait", run=wait) for lead in leads for _ in range(3)]
        tries = await asyncio.gather(*wishes, return_exceptions=True)
        refused = [error for error in tries if isinstance(error, BaseException)]
        assert {type(error) for error in refused} == {SpawnLimit}
        runs = [view.run for view in await here.services.runs.find(RunFilter(has_ended=False))]
        assert (len(tries) - len(refused), [run.state for run in runs]) == (5, [RunState.RUNNING] * 5)
        done.set()
