"""The doctor reports when a server that keeps a copy is down; a cluster needs a while to notice."""

import time
from pathlib import Path

import pytest

from tests.nats.servers import three_nodes
from tests.nats.test_doctor import Patient

LIMIT_S = 40.0

pytestmark = pytest.mark.chaos


def test_a_node_that_is_down_is_reported(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with three_nodes(tmp_path / "server") as cluster:
        patient = Patient(f"{cluster.url}/team?cache={tmp_path / 'cache'}", capsys)
        patient.covey("init")
        leader = cluster.leader_of("covey_team")
        next(node for node in cluster.nodes if node is not leader).kill()
        end = time.monotonic() + LIMIT_S
        while "server-copy-behind" not in (found := patient.found()):
            assert time.monotonic() < end, found
