"""Pruning: which threads may leave the ledger, and what their tombstone says."""

from collections.abc import Iterable
from datetime import datetime
from typing import NamedTuple

from covey.core.ids import MessageId
from covey.core.names import Scope


class ThreadState(NamedTuple):
    """A thread as a whole."""

    messages: int
    waiting: int
    """Deliveries that an inbox still holds, or that are still to be posted to people."""
    owed: int
    """Tickets that are not closed."""
    last_at: datetime
    """When the last thing happened to any of it."""
    scopes: frozenset[Scope]
    """What its messages are about; empty where none of them has a scope."""
    tasks: int = 0
    """Tasks that were handed over in it."""
    unfinished: int = 0
    """Those of them that are not finished, or are a part of one, near or far, that is not, or have such a part."""
    runs: int = 0
    """Children that were started with its messages."""
    running: int = 0
    """Those of them that are not done with."""

    @property
    def is_open(self) -> bool:
        return self.waiting > 0 or self.owed > 0 or self.unfinished > 0 or self.running > 0

    def may_go(self, before: datetime) -> bool:
        """Tell whether nothing of it is open, and nothing has happened to it since `before`."""
        return not self.is_open and self.last_at < before


def fingerprint(ids: Iterable[MessageId]) -> str:
    """Return what a tombstone has instead of its messages' ids: the sha256 of them, sorted, one a line."""
    from hashlib import sha256  # here because it brings OpenSSL, and every writer loads this module

    return sha256("".join(f"{message_id}\n" for message_id in sorted(ids)).encode()).hexdigest()
