"""Faults of a cluster of three: each is over when this returns, one of the workers was killed meanwhile, and all have
gone on.

`python -m tests.chaos.nats_faults TIMES`, alone in a network: the leader loses the others so many times.
"""

import sys
import time
from typing import Final

from covey.adapters.nats.leases import LEASE_S
from tests.chaos.nats_storm import STREAM, Storm, storm
from tests.nats.partition import Node, three_nodes_apart

CUT_OFF_S: Final = 6.0
"""How long a node is cut off: about as long as the others wait before they choose another leader. Sometimes they do."""
DOWN_S: Final = 1.0
LONG_DOWN_S: Final = LEASE_S + 2.0
"""Longer than any sign of life is believed."""


def the_leader_dies(under_way: Storm) -> None:
    """Kill the node that leads the log; the others go on without it, and it comes back."""
    leader = under_way.cluster.leader_of(STREAM)
    leader.kill()
    under_way.kill_worker()  # who begins meanwhile finds no leader, either
    under_way.until_all_go_on()
    leader.start()
    leader.until_healthy()


def all_nodes_die(under_way: Storm) -> None:
    """Kill or stop all nodes, so that there is nobody for a while, and start them again."""
    is_orderly = under_way.random.random() < 0.5
    for node in under_way.cluster.nodes:
        if is_orderly:
            node.stop()
        else:
            node.kill()
    time.sleep(DOWN_S)  # how long the fault lasts
    under_way.cluster.start()
    under_way.kill_worker()
    under_way.until_all_go_on()


def all_nodes_are_long_gone(under_way: Storm) -> None:
    """Stop all nodes for so long that every sign of life has run out when they come back."""
    under_way.cluster.stop()
    time.sleep(LONG_DOWN_S)  # how long the fault lasts
    under_way.cluster.start()
    under_way.kill_worker()
    under_way.until_all_go_on()


def the_leader_is_cut_off(under_way: Storm) -> None:
    """Let the node that leads the log hear and say nothing; it comes back and believes that it still leads."""
    leader = under_way.cluster.leader_of(STREAM)
    leader.cut_off()
    try:
        time.sleep(CUT_OFF_S)  # how long the fault lasts
    finally:
        leader.rejoin()
    under_way.kill_worker()
    leader.until_healthy()
    under_way.until_all_go_on()


def the_leader_loses_the_others(under_way: Storm) -> None:
    """Cut the node that leads the log off from the others, while it keeps its clients: those have to go elsewhere."""
    leader = under_way.cluster.leader_of(STREAM)
    assert isinstance(leader, Node)
    leader.lose_the_others()
    under_way.kill_worker()
    try:
        under_way.until_all_go_on()
    finally:
        leader.find_the_others()
    leader.until_healthy()


if __name__ == "__main__":
    storm(the_leader_loses_the_others, int(sys.argv[1]), three_nodes_apart)
