"""Waiting for the disk outside the turn, so that several processes wait at once and the disk serves them together.

SQLite's own full sync waits while the write lock is held: processes wait for the disk one after the other. Here the
transaction is committed without that wait, the turn passes on, and the log is synced before anybody is told. A sync
covers all that was written to the log before it, so what is told is durable with everything it builds upon; a power
cut between the two loses only what nobody was told of. If the log was written back into the database meanwhile, SQLite
has synced it.
"""

import os

from covey.adapters.sqlite.engine.condition import Condition
from covey.disk.syncing import sync_data


class LogSync:
    """Syncs the log of the database at `path`. SQLite has no locks on that file that opening it here could disturb."""

    def __init__(self, path: str, condition: Condition) -> None:
        self._path = f"{path}-wal"
        self._condition = condition
        self._descriptor: int | None = None

    def __call__(self) -> None:
        """Return when what was written to the log is on the disk, and the path still names that log. If the sync fails,
        durability is unknown: StoreUnconfirmed, and nothing more is written."""
        self._condition.check_confirmed()
        try:
            if self._descriptor is None:
                self._descriptor = os.open(self._path, os.O_RDWR | os.O_CLOEXEC)
            sync_data(self._descriptor)
        except OSError as error:
            self._condition.check()  # of a log that was removed more is known
            raise self._condition.unconfirmed(error) from error
        self._condition.check()

    def close(self) -> None:
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None
