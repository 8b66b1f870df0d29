"""A process that lives for some milliseconds imports only the modules that it needs."""

import json
import subprocess
import sys
from pathlib import Path

from tests.adapters.sqlite.stories import make_store

LIMIT_S = 20.0

UNWANTED = ("asyncio", "threading", "logging", "inspect", "dataclasses", "pathlib", "importlib.resources", "sqlite3")

READ = """
import sys, json
before = set(sys.modules)
from covey.core.coroutine import finish
from covey.adapters.sqlite.transactions.store import SqliteStore

async def names(transaction):
    return [agent.name for agent in await transaction.agents.all()]

store = SqliteStore(sys.argv[1])
found = finish(store.read(names))
finish(store.close())
print(json.dumps([found, sorted(set(sys.modules) - before)]))
"""


def test_opening_and_reading_needs_no_event_loop_and_no_threads(tmp_path: Path) -> None:
    path = tmp_path / "covey.db"
    make_store(path)
    said = subprocess.run(
        [sys.executable, "-c", READ, str(path)], capture_output=True, text=True, timeout=LIMIT_S, check=True
    )
    found, modules = json.loads(said.stdout)
    assert found == ["bob"]
    assert [module for module in UNWANTED if module in modules] == []
