"""The short form of `make chaos`."""

import pytest

from tests.chaos.rampage import rampage


@pytest.mark.timeout(180)
@pytest.mark.requirement("ledger.states")
def test_twenty_five_kills_lose_duplicate_and_mix_up_nothing() -> None:
    rampage(25, rounds=1)
