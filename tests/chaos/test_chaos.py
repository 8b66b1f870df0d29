"""Two thousand kills: nothing that was accepted is lost, nothing arrives twice, and all books agree."""

import os

import pytest

from tests.chaos.rampage import rampage

KILLS = int(os.environ.get("COVEY_KILLS", "2000"))


@pytest.mark.chaos
@pytest.mark.timeout(900 + KILLS)
def test_no_kill_loses_doubles_or_confuses_anything() -> None:
    rampage(KILLS, rounds=4)
