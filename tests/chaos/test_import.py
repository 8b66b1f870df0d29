"""A hundred exports, imports and moves that are killed at random moments: a rerun completes all of them."""

import os

import pytest

from tests.chaos.interrupted_transfer import killed_again_and_again, moved_again_and_again

KILLS = int(os.environ.get("COVEY_TRANSFER_KILLS", "100"))


@pytest.mark.chaos
@pytest.mark.timeout(900 + KILLS)
def test_no_kill_leaves_half_an_export_or_half_an_import() -> None:
    killed_again_and_again(messages=300, kills=KILLS)


@pytest.mark.chaos
@pytest.mark.timeout(900 + KILLS)
@pytest.mark.parametrize("layout", [None, "dialogue", "mailbox"])
def test_no_kill_leaves_half_a_move(layout: str | None) -> None:
    moved_again_and_again(messages=300, kills=KILLS, layout=layout)
