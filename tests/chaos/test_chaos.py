"""Two thousand kills: no accepted message is lost, none arrives twice, and all records agree."""

import os

import pytest

from tests.chaos.rampage import rampage

KILLS = int(os.environ.get("COVEY_KILLS", "2000"))


@pytest.mark.chaos
@pytest.mark.timeout(900 + KILLS)
def test_no_kill_loses_duplicates_or_mixes_up_anything() -> None:
    rampage(KILLS, rounds=4)
