"""Pruning: the condition for removing a thread from the ledger, and the fingerprint in its tombstone."""

from collections.abc import Iterable
from datetime import datetime
from typing import NamedTuple

from covey.core.ids import MessageId
from covey.core.names import Scope


class ThreadState(NamedTuple):
    """The state of a thread as a whole."""

    messages: int
    waiting: int
    """The number of deliveries that an inbox still holds, or that are still to be posted to people."""
    owed: int
    """The number of tickets that are not closed."""
    last_at: datetime
    """The time of the last event in the thread."""
    scopes: frozenset[Scope]
    """The scopes of the messages; empty if none of them has a scope."""
    tasks: int = 0
    """The number of tasks that were handed over in the thread."""
    unfinished: int = 0
    """The number of these tasks that are not finished, or have an unfinished ancestor or descendant."""
    runs: int = 0
    """The number of children that were started with the thread's messages."""
    running: int = 0
    """The number of these children that still need work (`Run.is_done_with`)."""

    @property
    def is_open(self) -> bool:
        return self.waiting > 0 or self.owed > 0 or self.unfinished > 0 or self.running > 0

    def may_go(self, before: datetime) -> bool:
        """Tell whether the thread has nothing open, and its last event is older than `before`."""
        return not self.is_open and self.last_at < before


def fingerprint(ids: Iterable[MessageId]) -> str:
    """Return the fingerprint that replaces the ids of messages in a tombstone: the sha256 of the sorted ids, one a
    line."""
    from hashlib import sha256  # here because it brings OpenSSL, and every writer loads this module

    return sha256("".join(f"{message_id}\n" for message_id in sorted(ids)).encode()).hexdigest()
