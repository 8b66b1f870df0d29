"""A replica in the calling thread, for commands and hooks that live for some milliseconds."""

from covey.adapters.sqlite.engine.trouble import BUSY_LIMIT_S
from covey.adapters.sqlite.engine.writer_lock import WriterLock
from covey.adapters.sqlite.replica.replica import Replica
from covey.adapters.sqlite.transactions.reader import Reader
from covey.adapters.sqlite.transactions.recorded_writer import RecordedWriter
from covey.adapters.sqlite.transactions.store import SqliteStore
from covey.adapters.sqlite.transactions.transaction import Ring, ring_nobody
from covey.core.late import late
from covey.ports.store import Capabilities


class ReplicaStore(SqliteStore):
    """A `SqliteStore` over a replica. Every read and every commit asks the log first."""

    def __init__(self, replica: Replica, *, ring: Ring = ring_nobody, limit_s: float = BUSY_LIMIT_S) -> None:
        """Open the store over a replica. `close` closes the replica too."""
        super().__init__(replica.path, ring=ring, synchronous="normal", limit_s=limit_s)
        self._replica = replica
        self._reader = Reader(self._connection, self.path, self._condition, self._known, replica.refresh)

    @late
    def _writer(self) -> RecordedWriter:
        recording = self._replica.recording(self._connection)
        turnstile = WriterLock(self.path)
        return RecordedWriter(
            self._connection, self.path, turnstile, self._ring, self._condition, recording, self._known
        )

    @property
    def capabilities(self) -> Capabilities:
        return self._replica.capabilities()

    async def close(self) -> None:
        await super().close()
        self._replica.close()
