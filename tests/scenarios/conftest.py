"""Every scenario runs on every store."""

import asyncio
from collections.abc import Generator
from pathlib import Path

import pytest

from covey.services.audit import Audit
from tests.scenarios.stores import in_memory, on_sqlite
from tests.scenarios.world import OpenStore, World


@pytest.fixture(params=["memory", "sqlite"])
def open_store(request: pytest.FixtureRequest, tmp_path: Path) -> OpenStore:
    return in_memory() if request.param == "memory" else on_sqlite(tmp_path)


@pytest.fixture
def world(open_store: OpenStore) -> Generator[World]:
    world = World(open_store)
    yield world
    asyncio.run(_check(world))


async def _check(world: World) -> None:
    """Whatever a scenario did: the records agree with the journal and with the rules of the ledger."""
    try:
        assert await Audit(world.observer.store).check() == []
    finally:
        await world.close()
