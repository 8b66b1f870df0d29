"""What a writer tells of its transactions to whoever has to accept them before they count."""

from collections.abc import Callable
from typing import Protocol

import apsw

import covey.ports as ports
from covey.adapters.sqlite.access import Execute
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
