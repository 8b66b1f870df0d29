"""The follower: a thread that applies new log entries to the replica as soon as the log announces them.

One process of a machine follows the log for all processes that share the replica, and rings for them: the process that
holds the lock. When that process ends, another process takes over.
"""

from collections.abc import Callable
from contextlib import suppress
from functools import partial
from queue import Empty, SimpleQueue
from time import monotonic
from typing import Final

from covey.adapters.sqlite.replica.pulse import Pulse
from covey.adapters.sqlite.replica.replica import BATCH, Replica
from covey.adapters.sqlite.replica.snapshots import keep
from covey.core.errors import CoveyError
from covey.ports.log import LogEntry
from covey.threads import start_thread

TAKE_OVER_S: Final = 0.5
"""Seconds between two attempts of a process to take over."""

LOOK_S: Final = 2.0
"""Seconds between two reads of the log if no entry is announced."""

MOST_HEARD: Final = 4 * BATCH
"""Most announced entries in the queue. Later entries are read from the log."""

SNAPSHOT_EVERY: Final = 20_000
"""Number of records between two snapshots."""


class Follower:
    def __init__(self, replica: Replica, snapshot_every: int = SNAPSHOT_EVERY) -> None:
        """Start the thread."""
        self._replica = replica
        self._every = snapshot_every
        self._next = snapshot_every
        """Position at which the next snapshot may be due."""
        self._heard: SimpleQueue[LogEntry | None] = SimpleQueue()
        self._has_missed = False
        self._is_closing = False
        self._said = ""
        self._pulse = Pulse(replica.path)
        self._thread = start_thread(self._work, f"covey {replica.path} follows")

    def close(self) -> None:
        """End the thread after its current step."""
        self._is_closing = True
        self._heard.put(None)
        self._thread.join()

    def _work(self) -> None:
        try:
            while not self._is_closing:
                if self._pulse.is_own():
                    self._follow()
                else:
                    self._wait(TAKE_OVER_S)
        finally:
            self._pulse.close()

    def _follow(self) -> None:
        stop: Callable[[], None] | None = None
        try:
            stop = self._replica.log.listen(self._hear)
            self._attempt(self._replica.refresh)
            looked = monotonic()
            while not self._is_closing:
                entries = self._wait(LOOK_S)
                if entries:
                    self._attempt(partial(self._take_in, entries))
                if not entries or monotonic() - looked >= LOOK_S:
                    self._attempt(self._replica.refresh)
                    looked = monotonic()
                self._attempt(self._keep_snapshot)
        except CoveyError as error:  # the log can't be listened to yet
            self._say(error)
            self._wait(LOOK_S)
        finally:
            self._pulse.stop()
            if stop is not None:
                with suppress(CoveyError):
                    stop()

    def _hear(self, entry: LogEntry | None) -> None:
        if entry is None:
            self._pulse.stop()
        elif self._heard.empty() and self._replica.take_in_at_once(entry):
            self._pulse.beat()  # a handover to the thread would take as long again
            return
        if self._heard.qsize() < MOST_HEARD:
            self._heard.put(entry)
        else:
            self._has_missed = True

    def _wait(self, limit_s: float) -> list[LogEntry]:
        """Wait for announced entries and return them. An empty list means that the caller should read the log
        instead."""
        heard: list[LogEntry | None] = []
        try:
            heard.append(self._heard.get(timeout=limit_s))
            while len(heard) < BATCH:
                heard.append(self._heard.get_nowait())
        except Empty:
            pass
        has_missed, self._has_missed = self._has_missed, False
        return [] if has_missed or None in heard else [entry for entry in heard if entry is not None]

    def _take_in(self, entries: list[LogEntry]) -> None:
        self._replica.take_in(entries)
        if self._replica.position < entries[-1].position:
            self._replica.refresh()  # some entries were not announced

    def _keep_snapshot(self) -> None:
        """Keep a snapshot when one is due. Several machines may do so at once, and the first is enough."""
        snapshots = self._replica.snapshots
        if snapshots is None or self._replica.position < self._next:
            return
        newest = snapshots.newest()
        kept = 0 if newest is None else newest.position
        if self._replica.position >= kept + self._every:
            kept = keep(self._replica.path, snapshots)
        self._next = kept + self._every

    def _attempt(self, do: Callable[[], None]) -> None:
        """Call `do` and report an error once. A read or a commit meets the same error and raises it to its caller."""
        try:
            do()
        except CoveyError as error:
            self._pulse.stop()
            self._say(error)
        else:
            self._pulse.beat()
            self._said = ""

    def _say(self, error: CoveyError) -> None:
        if error.message != self._said:
            self._said = error.message
            self._replica.warn(f"{self._replica.log.name} can't be followed: {error.message}")
