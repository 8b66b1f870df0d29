"""How the processes of a scenario get to their space, on each engine."""

from pathlib import Path

from covey.adapters.folder.folder import FilesFolder
from covey.adapters.folder.ground import prepare
from covey.adapters.memory import MemoryLiveness, MemoryStore
from covey.adapters.sqlite.transactions.store import SqliteStore
from covey.adapters.system.clock import SystemClock
from covey.adapters.system.ids import SystemIds
from covey.core.formats.layout import Layout
from covey.ports.store import Store
from covey.services.mail.updates import NoticePorts
from covey.services.mirror.mirror import Mirror
from covey.services.mirror.store import MirroredStore, OwnPasses
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


def in_files(folder: Path, layout: Layout) -> OpenStore:
    """Each process opens the folder for itself."""
    root = str(folder / "shared")

    def open_store(ring: Ring) -> Store:
        prepare(root, layout)
        ledger = SqliteStore(f"{root}/.covey/covey.db", ring=ring, synchronous="normal")
        shared = FilesFolder(root, layout)
        # Nothing that foreign programs do comes about in a scenario, so that it acts with a time of its own.
        desk = NoticePorts(SystemIds(), MemoryLiveness())
        mirror = Mirror(ledger, shared, SystemClock(), desk)
        return MirroredStore(ledger, shared, OwnPasses(shared, lambda: mirror))

    return open_store
