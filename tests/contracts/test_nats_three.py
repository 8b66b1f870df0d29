"""The contracts over a replicated store on three NATS nodes, where every opening is on its own machine.

Other ways to open a store differ only on the client side, which test_nats covers.
"""

from collections.abc import Generator
from pathlib import Path

import pytest

from covey.testing.contracts import (
    DurableStoreContract,
    SearchContract,
    SharedStoreContract,
    StoreContract,
    ViewsContract,
)
from tests.contracts.nats_contracts import *  # noqa: F403 — its fixtures, and tests that all have
from tests.nats.ahead import SpacesAhead, new_space, spaces_ahead
from tests.nats.servers import three_nodes


@pytest.fixture(scope="module")
def servers(tmp_path_factory: pytest.TempPathFactory) -> Generator[str]:
    with three_nodes(tmp_path_factory.mktemp("three")) as cluster:
        yield cluster.url


@pytest.fixture(scope="module")
def ahead(servers: str) -> Generator[SpacesAhead]:
    with spaces_ahead(servers, replicas=3) as spaces:
        yield spaces


@pytest.fixture
def place(servers: str, ahead: SpacesAhead, tmp_path: Path) -> Generator[str]:
    """Return the URL of a new space, with a folder for its replicas. Its log exists and is empty."""
    space = ahead.take()
    yield f"{servers}/{space}?cache={tmp_path}"
    ahead.drop(space)


class TestStore(StoreContract): ...


class TestDurable(DurableStoreContract): ...


class TestShared(SharedStoreContract):
    @pytest.fixture
    def place(self, servers: str, ahead: SpacesAhead, tmp_path: Path) -> Generator[str]:
        """Return the URL of a new space whose log does not exist yet."""
        space = new_space()
        yield f"{servers}/{space}?cache={tmp_path}"
        ahead.drop(space)


class TestViews(ViewsContract): ...


class TestSearch(SearchContract): ...
