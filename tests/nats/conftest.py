"""Servers, one for the tests of each file."""

from collections.abc import Generator
from pathlib import Path

import pytest

from tests.nats.servers import NatsServer, one_node


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Generator[NatsServer]:
    """One node for all tests of a file. Each test has a separate space."""
    folder: Path = tmp_path_factory.mktemp("nats")
    with one_node(folder) as server:
        yield server


@pytest.fixture
def place(server: NatsServer, tmp_path: Path) -> str:
    """The place of a fresh space: HOST:PORT/SPACE."""
    return f"{server.address}/s{abs(hash(str(tmp_path))):x}"
