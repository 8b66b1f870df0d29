"""How the processes of a scenario get to their space, on each engine."""

from pathlib import Path

from covey.adapters.memory import MemoryStore
from covey.adapters.sqlite.store import SqliteStore
from covey.ports.store import Store
from tests.scenarios.world import OpenStore, Ring


def in_memory() -> OpenStore:
    """Every process gets to the one store in memory."""
    opened: list[Store] = []

    def open_store(ring: Ring) -> Store:
        if not opened:
            opened.append(MemoryStore(ring))
        return opened[0]

    return open_store


def on_sqlite(folder: Path) -> OpenStore:
    """Each process opens the file for itself."""
    return lambda ring: SqliteStore(folder / "covey.db", ring=ring, synchronous="normal")
