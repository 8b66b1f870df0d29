"""A hundred exports and imports that are killed at random moments: a rerun makes all of them whole."""

import os

import pytest

from tests.chaos.interrupted_transfer import killed_again_and_again

KILLS = int(os.environ.get("COVEY_TRANSFER_KILLS", "100"))


@pytest.mark.chaos
@pytest.mark.timeout(120 + KILLS)
def test_no_kill_leaves_half_an_export_or_half_an_import() -> None:
    killed_again_and_again(messages=300, kills=KILLS)
