"""Many workers at one pile of tasks: each task is done once, and no agent ever exceeds its quota."""

import asyncio
import json
import time
from pathlib import Path
from typing import Final

import covey
from covey.core.names import AgentName
from covey.ports.work import TaskFilter
from covey.services.space import Services
from tests.chaos.duty import Duty, store
from tests.chaos.duty_rampage import chaos_folder, space_of
from tests.chaos.duty_verdict import Verdict, judge
from tests.chaos.nursery import nursery
from tests.properties.world import finish

QUOTAS: Final = {AgentName("ada"): 3, AgentName("bea"): 5, AgentName("cy"): 1, AgentName("dee"): 8}
CONCURRENCY: Final = 2
LOOK_S: Final = 0.05


def crowd(workers: int, tasks: int, limit_s: float) -> Verdict:
    """Let `workers` processes do `tasks` tasks, and judge the result."""
    with chaos_folder() as (folder, _):
        agents = list(QUOTAS)
        with space_of(folder, QUOTAS, is_slow=False) as space, nursery("tests.chaos.duty", folder) as forked:
            asyncio.run(_hand_over(folder, tasks))
            begun = time.monotonic()
            duties = [Duty(str(folder), agents[n % len(agents)], n, CONCURRENCY) for n in range(workers)]
            pids = [forked.start(json.dumps(duty)) for duty in duties]
            _wait_until_done(space, limit_s)
            spent_s = time.monotonic() - begun
            ends = [forked.end(pid) for pid in pids]
        verdict = judge(folder, QUOTAS)
        print(
            f"workers {workers} · tasks {verdict.tasks} {dict(verdict.states)} · {verdict.tasks / spent_s:.0f}/s ·"
            f" most at once {dict(verdict.most_held)} · faults {len(verdict.faults)} · {spent_s:.0f} s",
            flush=True,
        )
        assert not verdict.faults, "\n".join(verdict.faults[:20])
        assert ends == ["ended by itself with 0"] * workers
        assert dict(verdict.states) == {"completed": tasks}
        assert verdict.recalled == 0, "nobody was killed"
        return verdict


async def _hand_over(folder: Path, tasks: int) -> None:
    agents = list(QUOTAS)
    async with covey.open(store(folder)) as space:
        ann = await space.join("ann")
        await asyncio.gather(*(ann.delegate(agents[n % len(agents)], f"task {n}") for n in range(tasks)))


def _wait_until_done(space: Services, limit_s: float) -> None:
    ends_at = time.monotonic() + limit_s
    while unfinished := finish(space.tasks.find(TaskFilter(is_finished=False), 1)):
        assert time.monotonic() < ends_at, f"not done in time: {unfinished}"
        time.sleep(LOOK_S)
