"""Hundreds of prunes, backups, restores and migrations, killed at random moments: a rerun completes each of them."""

import os

import pytest

from tests.chaos.interrupted_migration import migrations_killed_again_and_again
from tests.chaos.interrupted_operation import killed_again_and_again

KILLS = int(os.environ.get("COVEY_OPERATE_KILLS", "40"))


@pytest.mark.chaos
@pytest.mark.timeout(900 + 4 * KILLS)
def test_no_kill_leaves_half_a_prune_half_a_backup_or_half_a_restore() -> None:
    killed_again_and_again(dialogues=300, kills=KILLS)


@pytest.mark.chaos
@pytest.mark.timeout(900 + 4 * KILLS)
def test_no_kill_leaves_half_a_migration() -> None:
    migrations_killed_again_and_again(KILLS)
