"""Every scenario runs on every store, and once more with every wake-up dropped; some with real processes."""

import asyncio
from collections.abc import Generator
from contextlib import ExitStack
from pathlib import Path

import pytest

from covey.adapters.memory import MemoryWakeups
from covey.services.audit import Audit
from covey.testing import DeafWakeups
from tests.adapters.children import Child, child
from tests.scenarios.playing import PROGRAM, Start
from tests.scenarios.stores import in_memory, on_sqlite
from tests.scenarios.world import OpenStore, World


@pytest.fixture
def url(tmp_path: Path) -> str:
    """A space for real processes."""
    return f"sqlite:{tmp_path}/covey.db"


@pytest.fixture
def start(url: str) -> Generator[Start]:
    """Start processes that play roles; at the end none is left."""
    with ExitStack() as stack:

        def one(role: str, *arguments: str) -> Child:
            return stack.enter_context(child(PROGRAM, role, url, *arguments))

        yield one


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
