"""Every scenario runs on every store, and once more with every wake-up dropped."""

import asyncio
from collections.abc import Generator
from pathlib import Path

import pytest

from covey.adapters.memory import MemoryWakeups
from covey.services.audit import Audit
from covey.testing import DeafWakeups
from tests.scenarios.stores import in_memory, on_sqlite
from tests.scenarios.world import OpenStore, World


@pytest.fixture(params=["memory", "sqlite", "sqlite, all wake-ups dropped"])
def engine(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.fixture
def open_store(engine: str, tmp_path: Path) -> OpenStore:
    return in_memory() if engine == "memory" else on_sqlite(tmp_path)


@pytest.fixture
def world(open_store: OpenStore, engine: str) -> Generator[World]:
    world = World(open_store, DeafWakeups(MemoryWakeups()) if engine.endswith("dropped") else None)
    yield world
    asyncio.run(_check(world))


async def _check(world: World) -> None:
    """Whatever a scenario did: the records agree with the journal and with the rules of the ledger."""
    try:
        assert await Audit(world.observer.store).check() == []
    finally:
        await world.close()
