"""Kills at every stage of a spawn: limits hold, nothing is left behind, and the parent gets a true report."""

import os
from pathlib import Path
from random import Random

import pytest

from covey.core.work.run import STAGES, Stage
from tests.chaos.spawn_rampage import Death, rampage

KILLS = int(os.environ.get("COVEY_KILLS", "300"))
VICTIMS = ("parent", "child", "guardian", "house")


EVERY = [(stage, is_before) for stage in STAGES for is_before in (True, False)]
LAUNCHED = 1 + 2 * (len(STAGES) - 1 - STAGES.index(Stage.LAUNCH))
"""The number of entries at which a program runs. Before its launch there is no victim."""


@pytest.mark.requirement("sessions.spawn.stages", "sessions.spawn.limits", "sessions.push")
async def test_a_parent_that_is_killed_at_any_stage_leaves_nothing_and_gets_a_true_report(tmp_path: Path) -> None:
    ends = await rampage(tmp_path, [Death("parent", [at]) for at in EVERY])
    # The first commit precedes the attachments. From then on there is a run, which is lost.
    assert ends["lost"] == sum(STAGES.index(stage) >= STAGES.index(Stage.ATTACHMENTS) for stage, _ in EVERY)
    assert not ends.keys() - {"lost"}


@pytest.mark.requirement("sessions.spawn.stages", "sessions.push")
@pytest.mark.parametrize(("victim", "end"), [("child", "failed"), ("guardian", "lost")])
async def test_a_kill_below_a_parent_at_any_stage_leaves_nothing_and_is_reported(
    tmp_path: Path, victim: str, end: str
) -> None:
    ends = await rampage(tmp_path, [Death(victim, EVERY)])
    assert ends == {end: LAUNCHED, "completed": len(EVERY) - LAUNCHED}


@pytest.mark.requirement("sessions.spawn.stages", "sessions.push")
async def test_running_programs_outlive_the_house_that_started_them(tmp_path: Path) -> None:
    ends = await rampage(tmp_path, [Death("house", EVERY)])
    # includes the first one, which started the house; a spawn may fail together with its house
    assert ends["completed"] > LAUNCHED


@pytest.mark.chaos
@pytest.mark.timeout(900 + 10 * KILLS)
async def test_no_kill_among_many_children_leaves_or_hides_anything(tmp_path: Path) -> None:
    random = Random(os.environ.get("COVEY_SEED", "children"))
    deaths = [Death(random.choice(VICTIMS), [random.choice(EVERY)], random.choice((1, 2, 3, 5))) for _ in range(KILLS)]
    print(await rampage(tmp_path, deaths))
