"""The contracts over a replicated store on one NATS node: on one machine and on several."""

import uuid
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
from tests.contracts.nats_contracts import WAYS
from tests.nats.servers import one_node


@pytest.fixture(scope="module")
def servers(tmp_path_factory: pytest.TempPathFactory) -> Generator[str]:
    with one_node(tmp_path_factory.mktemp("one")) as server:
        yield server.url


@pytest.fixture
def place(servers: str, tmp_path: Path) -> str:
    """Return the URL of a new space, with a folder for its replicas."""
    return f"{servers}/{uuid.uuid4().hex}?cache={tmp_path}"


@pytest.mark.parametrize("way", WAYS, indirect=True)
class TestStore(StoreContract): ...


@pytest.mark.parametrize("way", WAYS, indirect=True)
class TestDurable(DurableStoreContract): ...


@pytest.mark.parametrize("way", WAYS, indirect=True)
class TestShared(SharedStoreContract): ...


@pytest.mark.parametrize("way", WAYS, indirect=True)
class TestViews(ViewsContract): ...


@pytest.mark.parametrize("way", WAYS, indirect=True)
class TestSearch(SearchContract): ...
