"""Fixtures that run every scenario on every store, and once more with every wake-up dropped.

Some start real processes.
"""

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
    """Return the URL of a space for real processes."""
    return f"sqlite:{tmp_path}/covey.db"


@pytest.fixture
def start(url: str) -> Generator[Start]:
    """Return a function that starts processes by role. All of them are ended on exit."""
    with ExitStack() as stack:

        def one(role: str, *arguments: str) -> Child:
            return stack.enter_context(child(PROGRAM, role, url, *arguments))

        yield one


ON_FILES = {
    "files, dialogue": {"test_dialogue", "test_gate", "test_fan_out", "test_asks", "test_leaving"},
    "files, mailbox": {"test_tasks", "test_parking", "test_message_ledger"},
}
"""Scenarios that also run on files, in the layout of the programs that they are about.

The ledger beneath is in SQLite.
"""


@pytest.fixture(params=["memory", "sqlite", "sqlite, all wake-ups dropped", *ON_FILES])
def engine(request: pytest.FixtureRequest) -> str:
    return request.param


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Deselect the scenarios that do not run on files."""
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
    """Check that the records agree with the journal and with the rules of the ledger after any scenario."""
    try:
        assert await Audit(world.observer.store).check() == []
    finally:
        await world.close()
