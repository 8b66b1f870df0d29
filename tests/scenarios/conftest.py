"""Every scenario runs on every store, and once more with every wake-up dropped; some with real processes."""

import asyncio
from collections.abc import Generator
from contextlib import ExitStack
from pathlib import Path

import pytest

from covey.adapters.memory import MemoryWakeups
from covey.core.formats.layout import Layout
from covey.services.care.audit import Audit
from covey.testing import DeafWakeups
from tests.adapters.children import Child, child
from tests.scenarios.playing import PROGRAM, Start
from tests.scenarios.stores import in_files, in_memory, on_sqlite
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


ON_FILES = {
    "files, dialogue": {"test_dialogue", "test_gate", "test_fan_out", "test_asks", "test_leaving"},
    "files, mailbox": {"test_tasks", "test_parking", "test_message_ledger"},
}
"""The stories that are told on files, too, in the layout whose programs tell them. The ledger beneath is sqlite's."""


@pytest.fixture(params=["memory", "sqlite", "sqlite, all wake-ups dropped", *ON_FILES])
def engine(request: pytest.FixtureRequest) -> str:
    return request.param


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Leave out the stories that are not told on files."""
    items[:] = [item for item in items if _is_told(item)]


def _is_told(item: pytest.Item) -> bool:
    return all(item.path.stem in stories for engine, stories in ON_FILES.items() if f"[{engine}" in item.name)


@pytest.fixture
def open_store(engine: str, tmp_path: Path) -> OpenStore:
    if engine.startswith("files"):
        return in_files(tmp_path, Layout(engine.split()[-1]))
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
