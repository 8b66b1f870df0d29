"""Fixtures: a desk with a new space for each test. After the test, the records must agree with the journal."""

import asyncio
from collections.abc import Generator
from pathlib import Path

import pytest

from covey.services.care.audit import Audit
from tests.scenarios.stores import on_sqlite
from tests.scenarios.world import World
from tests.surfaces.mcp.desk import Desk


@pytest.fixture
def world(tmp_path: Path) -> Generator[World]:
    world = World(on_sqlite(tmp_path))
    yield world
    asyncio.run(_check(world))


async def _check(world: World) -> None:
    try:
        assert await Audit(world.observer.store).check() == []
    finally:
        await world.close()


@pytest.fixture
def desk(world: World) -> Desk:
    return Desk(world)
