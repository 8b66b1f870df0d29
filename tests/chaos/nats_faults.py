"""Faults of a cluster of three.

When a function returns, its fault is over, one worker was killed during the fault, and all workers have made progress.

`python -m tests.chaos.nats_faults TIMES`, alone in a network: the leader loses the others TIMES times.
"""

import sys
import time
from typing import Final

from covey.adapters.nats.leases import LEASE_S
from tests.chaos.nats_storm import STREAM, Storm, storm
from tests.nats.partition import Node, three_nodes_apart

CUT_OFF_S: Final = 6.0
"""The time of a cut: about as long as the other nodes wait before they elect a leader. Sometimes they do."""
DOWN_S: Final = 1.0
LONG_DOWN_S: Final = LEASE_S + 2.0
"""Longer than any lease of a session."""


def the_leader_dies(under_way: Storm) -> None:
    """Kill the node that leads the log. The others continue without it, and it returns."""
    leader = under_way.cluster.leader_of(STREAM)
    leader.kill()
    under_way.kill_worker()  # the worker that starts now finds no leader, either
    under_way.until_all_go_on()
    leader.start()
    leader.until_healthy()


def all_nodes_die(under_way: Storm) -> None:
    """Kill or stop all nodes, so that there is no server for a while, and start them again."""
    is_orderly = under_way.random.random() < 0.5
    for node in under_way.cluster.nodes:
        if is_orderly:
            node.stop()
        else:
            node.kill()
    time.sleep(DOWN_S)  # the duration of the fault
    under_way.cluster.start()
    under_way.kill_worker()
    under_way.until_all_go_on()


def all_nodes_are_long_gone(under_way: Storm) -> None:
    """Stop all nodes for so long that every lease has expired when they return."""
    under_way.cluster.stop()
    time.sleep(LONG_DOWN_S)  # the duration of the fault
    under_way.cluster.start()
    under_way.kill_worker()
    under_way.until_all_go_on()


def the_leader_is_cut_off(under_way: Storm) -> None:
    """Cut the node that leads the log off from all traffic. It returns and believes that it still leads."""
    leader = under_way.cluster.leader_of(STREAM)
    leader.cut_off()
    try:
        time.sleep(CUT_OFF_S)  # the duration of the fault
    finally:
        leader.rejoin()
    under_way.kill_worker()
    leader.until_healthy()
    under_way.until_all_go_on()


def the_leader_loses_the_others(under_way: Storm) -> None:
    """Cut the node that leads the log off from the other nodes. Its clients stay, and have to reconnect elsewhere."""
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
