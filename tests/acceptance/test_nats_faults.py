"""The short form of the faults that `make chaos` causes on servers."""

import pytest

from tests.chaos.nats_faults import all_nodes_die, the_leader_dies, the_leader_is_cut_off
from tests.chaos.nats_storm import storm


@pytest.mark.timeout(240)
def test_a_dead_leader_a_dead_cluster_and_a_partitioned_leader_lose_duplicate_and_mix_up_nothing() -> None:
    faults = (the_leader_dies, all_nodes_die, the_leader_is_cut_off)
    following = iter(faults)
    storm(lambda under_way: next(following)(under_way), len(faults))
