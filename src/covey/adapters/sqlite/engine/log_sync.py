"""The sync of the log outside the writer lock: several processes wait at once and share one sync of the disk.

SQLite's own full sync waits while the write lock is held, so processes wait for the disk one after the other. Here the
transaction is committed without a sync, the writer lock is released, and the log is synced before the caller learns of
the commit. A sync covers everything that was written to the log before, so a reported commit is durable together with
all commits that it depends on. A power cut between commit and sync loses only commits that were not reported. If a
checkpoint wrote the log back into the database meanwhile, SQLite has synced the log.
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
        """Sync the log to the disk, and check that the path still names that log. If the sync fails, durability is
        unknown: raise StoreUnconfirmed and end all writes."""
        self._condition.check_confirmed()
        try:
            if self._descriptor is None:
                self._descriptor = os.open(self._path, os.O_RDWR | os.O_CLOEXEC)
            sync_data(self._descriptor)
        except OSError as error:
            self._condition.check()  # a removed log has a more precise error
            raise self._condition.unconfirmed(error) from error
        self._condition.check()

    def close(self) -> None:
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None
