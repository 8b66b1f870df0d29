"""The short form of the faults that `make chaos` causes on workers."""

import pytest

from tests.chaos.duty_crowd import crowd
from tests.chaos.duty_rampage import rampage


@pytest.mark.timeout(180)
@pytest.mark.requirement("mailbox.task.crash")
def test_twenty_five_kills_lose_no_task_finish_none_twice_and_leave_no_processes_behind() -> None:
    rampage(25)


@pytest.mark.timeout(180)
def test_four_workers_do_each_of_forty_tasks_once_within_the_quotas() -> None:
    crowd(4, 40, limit_s=60)
