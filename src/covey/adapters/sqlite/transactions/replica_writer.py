"""The writer of a replica: a write counts once the replica's log has accepted it.

On a conflict, the writer undoes the operations, applies the commits of the other replicas, and runs the operations
again. The port allows operations to run more than once.
"""

from collections.abc import Callable, Sequence
from typing import Protocol, TypeVar

import apsw

import covey.ports as ports
from covey.adapters.sqlite.engine.access import ConnectionCache, Execute
from covey.adapters.sqlite.engine.files import StoreCondition, raise_explained
from covey.adapters.sqlite.engine.writer_lock import WriterLock
from covey.adapters.sqlite.records.mail import write_counts
from covey.adapters.sqlite.transactions.transaction import PendingOperation, Ring
from covey.adapters.sqlite.transactions.writer import Writer
from covey.core.errors import IdentityRefused, Unavailable
from covey.core.names import Topic


class Recording(Protocol):
    """Records the changes that the transactions of one writer make. A store that is no replica has no recording."""

    def through(self, execute: Execute) -> Execute:
        """Return a callable that runs and records writing statements. Statements that run another way are not
        recorded."""
        ...

    def begin(self) -> None:
        """Start a new record; drop the previous one."""
        ...

    def mark(self) -> int:
        """Return the current length of the record."""
        ...

    def undo_to(self, mark: int) -> None:
        """Drop the changes that were recorded after `mark`."""
        ...

    def begin_commit(self, topics: list[Topic], tell: Callable[[], None]) -> bool:
        """Start to append the record to the log, without waiting. True: `tell` is called, on any thread, when
        `is_accepted` can answer at once or has more to do. False: only `is_accepted` can append the record."""
        ...

    def is_taken(self) -> bool:
        """Tell whether the log has accepted the record, so that `is_accepted` takes no time."""
        ...

    def is_accepted(self, topics: list[Topic]) -> bool:
        """Have the log accept the record before the commit; tell whether the log did. If not, there is a conflict: undo
        the transaction and run its operations again."""
        ...

    def end(self) -> None:
        """Drop the record, and stop recording."""
        ...

    def catch_up(self) -> None:
        """Apply the commits of other replicas. No transaction may be open meanwhile."""
        ...


class Replication(Protocol):
    """Replication: a log accepts the commits of this store, and the store applies the commits of other replicas."""

    def recording(self, connection: apsw.Connection) -> Recording:
        """Return the recording for a writer on this connection."""
        ...

    def is_followed(self) -> bool:
        """Tell whether commits of other replicas arrive by themselves, so that a read needs no refresh."""
        ...

    def refresh(self) -> None:
        """Apply all commits that any replica made before the call. Blocks, and may raise `Unavailable`."""
        ...

    def capabilities(self) -> "ports.Capabilities":
        """Return the capabilities of this store."""
        ...

    def close(self) -> None:
        """Release the resources."""
        ...


T = TypeVar("T")


class ReplicaWriter(Writer):
    """A writer that waits for the replica's log instead of the disk. The disk has only a copy."""

    def __init__(
        self,
        connection: apsw.Connection,
        path: str,
        turnstile: WriterLock,
        ring: Ring,
        condition: StoreCondition,
        recording: Recording,
        known: ConnectionCache | None = None,
    ) -> None:
        super().__init__(connection, path, turnstile, ring, condition, known, sync=_no_sync)
        self._recording = recording
        self._access.write = recording.through(self._execute)
        self._jobs: Sequence[PendingOperation] = ()
        """Jobs that ran in the current transaction."""

    def alone(self, operation: "ports.Operation[T]", limit_s: float) -> T:
        job = PendingOperation(operation)
        self.begin(limit_s)
        self.run_and_commit((job,))
        if job.error is not None:
            raise job.error
        return job.value

    def run(self, jobs: Sequence[PendingOperation]) -> None:
        self._jobs = jobs
        super().run(jobs)

    def begin_commit(self, tell: Callable[[], None]) -> bool:
        try:
            return self._recording.begin_commit(self._transaction.topics, tell)
        except apsw.Error as error:
            self.abandon()
            raise_explained(self._path, error)
        except BaseException:
            self.abandon()
            raise

    def is_taken(self) -> bool:
        return self._recording.is_taken()

    def commit(self, *, is_light: bool = False) -> None:
        del is_light  # durability comes from the replica's log, so no commit here waits for a disk
        jobs = self._jobs
        try:
            self._have_accepted(jobs)
        except IdentityRefused as refusal:
            self.abandon()
            self._each_alone(jobs, refusal)
            return
        except apsw.Error as error:
            self.abandon()
            raise_explained(self._path, error)
        except BaseException:
            self.abandon()
            raise
        self._jobs = ()
        self._commit_accepted()

    def abandon(self) -> None:
        self._jobs = ()
        super().abandon()

    def _begin(self) -> None:
        self._condition.check()
        super()._begin()
        self._recording.begin()

    def _run_marked(self, job: PendingOperation) -> None:
        mark = self._recording.mark()
        super()._run_marked(job)
        if job.error is not None:
            self._recording.undo_to(mark)

    def _have_accepted(self, jobs: Sequence[PendingOperation]) -> None:
        while not self._recording.is_accepted(self._transaction.topics):
            self.abandon()
            self._recording.catch_up()
            self.begin()
            self._jobs = jobs
            for job in jobs:
                job.error = None  # the state that caused the error may have changed
            self._run(jobs)
            write_counts(self._access)

    def _each_alone(self, jobs: Sequence[PendingOperation], refusal: IdentityRefused) -> None:
        """Have each job accepted alone, so that a job with a refused identity does not fail the other jobs."""
        if len(jobs) == 1:
            jobs[0].error = refusal
            return
        for job in jobs:
            job.error = None
            self.begin()
            self.run_and_commit((job,))

    def _commit_accepted(self) -> None:
        try:
            super().commit()
        except Unavailable as error:
            # The log has the commit; this machine will apply it from there.
            reason = f"the commit was accepted, but can't be written to the replica: {error.message}"
            raise Unavailable(reason, path=self._path) from error


def _no_sync() -> None:
    """Stand in for the sync of the disk: durability comes from the replica's log."""
