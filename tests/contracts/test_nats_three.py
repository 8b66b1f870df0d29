"""The contracts over a replicated store on three NATS nodes."""

from collections.abc import Generator

import pytest

from tests.contracts.test_nats import *  # noqa: F403 — the same tests, on other servers
from tests.nats.servers import three_nodes


@pytest.fixture(scope="module")
def servers(tmp_path_factory: pytest.TempPathFactory) -> Generator[str]:
    with three_nodes(tmp_path_factory.mktemp("three")) as cluster:
        yield cluster.url
