"""Stores of the processes of a scenario, for each engine."""

from pathlib import Path

from covey.adapters.folder.disk_layout import prepare
from covey.adapters.folder.folder import FilesFolder
from covey.adapters.memory import MemoryLiveness, MemoryStore
from covey.adapters.sqlite.transactions.store import SqliteStore
from covey.adapters.system.clock import SystemClock
from covey.adapters.system.ids import SystemIds
from covey.core.formats.layout import Layout
from covey.ports.store import Store
from covey.services.mail.filing import NoticePorts
from covey.services.mirror.mirror import Mirror
from covey.services.mirror.store import InlinePasses, MirroredStore
from tests.scenarios.world import OpenStore, Ring


def in_memory() -> OpenStore:
    """Let all processes share one store in memory."""
    opened: list[Store] = []

    def open_store(ring: Ring) -> Store:
        if not opened:
            opened.append(MemoryStore(ring))
        return opened[0]

    return open_store


def on_sqlite(folder: Path) -> OpenStore:
    """Let each process open the database file."""
    return lambda ring: SqliteStore(folder / "covey.db", ring=ring, synchronous="normal")


def in_files(folder: Path, layout: Layout) -> OpenStore:
    """Let each process open the shared folder."""
    root = str(folder / "shared")

    def open_store(ring: Ring) -> Store:
        prepare(root, layout)
        ledger = SqliteStore(f"{root}/.covey/covey.db", ring=ring, synchronous="normal")
        shared = FilesFolder(root, layout)
        # No foreign program acts in a scenario, so the mirror can use the system clock.
        desk = NoticePorts(SystemIds(), MemoryLiveness())
        mirror = Mirror(ledger, shared, SystemClock(), desk)
        return MirroredStore(ledger, shared, InlinePasses(shared, lambda: mirror))

    return open_store
