"""Three hundred kills of workers and their programs, and twenty workers at two thousand tasks."""

import os

import pytest

from tests.chaos.duty_crowd import QUOTAS, crowd
from tests.chaos.duty_rampage import rampage

KILLS = int(os.environ.get("COVEY_KILLS", "300"))


@pytest.mark.chaos
@pytest.mark.timeout(900 + 2 * KILLS)
def test_no_kill_loses_a_task_finishes_one_twice_or_leaves_a_process_behind() -> None:
    verdict = rampage(KILLS)
    assert {"worker", "house", "guardian", "program"} <= set(verdict.hits), "not everything was hit"
    assert verdict.recalled, "no worker was killed between the end of a program and saying so"
    assert verdict.released["working"], "no worker was killed at work"


@pytest.mark.chaos
@pytest.mark.timeout(900)
def test_twenty_workers_do_each_of_two_thousand_tasks_once_within_the_quotas() -> None:
    verdict = crowd(20, 2000, limit_s=600)
    assert {agent: verdict.most_held[agent] for agent in QUOTAS} == QUOTAS, "the quotas were hardly tried"
