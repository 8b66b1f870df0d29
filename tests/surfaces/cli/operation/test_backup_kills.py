"""Killed backups, restores, prunes and migrations: the short form of the long run in tests/chaos."""

import pytest

from tests.chaos.interrupted_migration import migrations_killed_again_and_again
from tests.chaos.interrupted_operation import killed_again_and_again


@pytest.mark.requirement("operate.prune", "operate.backup")
def test_a_rerun_completes_a_killed_prune_backup_or_restore() -> None:
    killed_again_and_again(dialogues=60, kills=8)


@pytest.mark.requirement("operate.versions")
def test_the_next_start_completes_a_killed_migration() -> None:
    migrations_killed_again_and_again(kills=4)
