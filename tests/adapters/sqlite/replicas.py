"""Replicas of a log in memory; the folder of each stands for its machine."""

from collections.abc import Collection
from pathlib import Path

from covey.adapters.memory.log import MemoryLog
from covey.adapters.sqlite.replica.replica import Replica, ReplicaStore
from covey.adapters.sqlite.replica.replicated_store import ReplicatedStore
from covey.core.names import Topic
from covey.core.reporting import Report, report_nothing
from covey.ports.log import Log
from covey.testing import silent
from covey.testing.factories import Ring


class Machines:
    """Machines that share one log."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.log = MemoryLog()
        self.warnings: list[str] = []

    def path(self, name: str) -> str:
        (self.folder / name).mkdir(exist_ok=True)
        return str(self.folder / name / "covey.db")

    def replica(
        self, name: str, log: Log | None = None, ring: Ring = silent, report: Report = report_nothing
    ) -> Replica:
        own = log or self.log.another()
        return Replica(self.path(name), own, self.log, ring, self.warnings.append, report=report)

    def store(self, name: str, log: Log | None = None, ring: Ring = silent) -> ReplicaStore:
        """Open a store as a short-lived program does."""
        return ReplicaStore(self.replica(name, log, ring), ring=ring)

    def staying(self, name: str, ring: Ring = silent, snapshot_every: int = 1_000_000) -> ReplicatedStore:
        """Open a store as a program with an event loop does."""
        return ReplicatedStore(lambda: self.replica(name, ring=ring), ring=ring, snapshot_every=snapshot_every)


class Rings(list[Collection[Topic]]):
    """All topics that were rung, in order."""

    def __call__(self, topics: Collection[Topic]) -> None:
        self.append(topics)
