"""The short forms of what `make chaos` does to servers."""

import pytest

from tests.chaos.nats_faults import all_nodes_die, the_leader_dies, the_leader_is_cut_off
from tests.chaos.nats_storm import storm


@pytest.mark.timeout(240)
def test_two_dead_leaders_lose_double_and_confuse_nothing() -> None:
    storm(the_leader_dies, 2)


@pytest.mark.timeout(240)
def test_a_cluster_that_comes_back_and_a_leader_that_was_cut_off_have_everything() -> None:
    faults = iter((all_nodes_die, the_leader_is_cut_off))
    storm(lambda under_way: next(faults)(under_way), 2)
