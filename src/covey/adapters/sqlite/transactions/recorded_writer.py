"""The writer of a replica: what it writes counts once the replica's log has accepted it.

As long as others come first it undoes what was run, takes in what they did, and runs it again: the port allows for
that.
"""

from collections.abc import Callable, Sequence
from typing import Protocol, TypeVar

import apsw

import covey.ports as ports
from covey.adapters.sqlite.engine.access import Execute
from covey.adapters.sqlite.engine.condition import Condition
from covey.adapters.sqlite.engine.connection_cache import ConnectionCache
from covey.adapters.sqlite.engine.trouble import raise_explained
from covey.adapters.sqlite.engine.writer_lock import WriterLock
from covey.adapters.sqlite.records.inboxes import write_counts
from covey.adapters.sqlite.transactions.operations import Job
from covey.adapters.sqlite.transactions.transaction import Ring
from covey.adapters.sqlite.transactions.writer import Writer
from covey.core.errors import IdentityRefused, Unavailable
from covey.core.ids import Topic


class Recording(Protocol):
    """Records what the transactions of one writer change. A store of its own has none."""

    def through(self, execute: Execute) -> Execute:
        """Return how to run statements that write. What is run otherwise is not recorded."""
        ...

    def begin(self) -> None:
        """Record from now on; forget what was recorded before."""
        ...

    def mark(self) -> int:
        """Return how much is recorded."""
        ...

    def undo_to(self, mark: int) -> None:
        """Forget what was recorded since."""
        ...

    def offer(self, topics: list[Topic], tell: Callable[[], None]) -> bool:
        """Ask to have what was recorded accepted, without waiting. True: it is told, on any thread, when `is_accepted`
        will know at once or has to do more. False: only `is_accepted` can ask."""
        ...

    def is_taken(self) -> bool:
        """Tell whether what was offered is accepted, so that `is_accepted` takes no time."""
        ...

    def is_accepted(self, topics: list[Topic]) -> bool:
        """Have what was recorded accepted, before it is committed; tell whether it counts. If not, others came first
        and it has to be undone and run again."""
        ...

    def end(self) -> None:
        """Forget what was recorded, and record nothing."""
        ...

    def catch_up(self) -> None:
        """Take in what the others did. Nothing is under way meanwhile."""
        ...


class Replication(Protocol):
    """What makes a store a replica: its commits are accepted elsewhere, and others' are taken in."""

    def recording(self, connection: apsw.Connection) -> Recording:
        """Return what records the transactions of a writer on this connection."""
        ...

    def is_followed(self) -> bool:
        """Tell whether what others commit comes by itself, so that a read need not ask for it."""
        ...

    def refresh(self) -> None:
        """Take in all that was committed anywhere before the call. Blocks, and may raise `Unavailable`."""
        ...

    def capabilities(self) -> "ports.Capabilities":
        """What this store can do."""
        ...

    def close(self) -> None:
        """Let go."""
        ...


T = TypeVar("T")


class RecordedWriter(Writer):
    """Waits for the log instead of the disk, which has only a copy."""

    def __init__(
        self,
        connection: apsw.Connection,
        path: str,
        turnstile: WriterLock,
        ring: Ring,
        condition: Condition,
        recording: Recording,
        known: ConnectionCache | None = None,
    ) -> None:
        super().__init__(connection, path, turnstile, ring, condition, known, sync=_no_sync)
        self._recording = recording
        self._access.write = recording.through(self._execute)
        self._jobs: Sequence[Job] = ()
        """What was run in the transaction that is under way."""

    def alone(self, operation: "ports.Operation[T]", limit_s: float) -> T:
        job = Job(operation)
        self.begin(limit_s)
        self.run_and_commit((job,))
        if job.error is not None:
            raise job.error
        return job.value

    def run(self, jobs: Sequence[Job]) -> None:
        self._jobs = jobs
        super().run(jobs)

    def offer(self, tell: Callable[[], None]) -> bool:
        try:
            return self._recording.offer(self._transaction.topics, tell)
        except apsw.Error as error:
            self.abandon()
            raise_explained(self._path, error)
        except BaseException:
            self.abandon()
            raise

    def is_taken(self) -> bool:
        return self._recording.is_taken()

    def commit(self, *, is_light: bool = False) -> None:
        del is_light  # what counts is in the log, and that waits for nobody's disk here
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

    def _run_marked(self, job: Job) -> None:
        mark = self._recording.mark()
        super()._run_marked(job)
        if job.error is not None:
            self._recording.undo_to(mark)

    def _have_accepted(self, jobs: Sequence[Job]) -> None:
        while not self._recording.is_accepted(self._transaction.topics):
            self.abandon()
            self._recording.catch_up()
            self.begin()
            self._jobs = jobs
            for job in jobs:
                job.error = None  # it was refused for what is no longer so
            self._run(jobs)
            write_counts(self._access)

    def _each_alone(self, jobs: Sequence[Job], refusal: IdentityRefused) -> None:
        """Have each accepted by itself, so that the one that says what it may not say harms no other."""
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
            # The log has it; this machine will take it in from there.
            reason = f"it was accepted, but can't be written to the replica: {error.message}"
            raise Unavailable(reason, path=self._path) from error


def _no_sync() -> None:
    """Stand in for the wait for the disk: what counts is in the log."""
