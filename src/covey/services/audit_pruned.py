"""Pruned messages under audit: the tombstones count as many messages as are remembered, and no other message is
missing."""

from collections.abc import AsyncIterator

from covey.core.disagreement import Disagreement, differing
from covey.core.replay import Replay
from covey.ports.store import Transaction
from covey.services.audit_books import Books


async def pruned_faults(tx: Transaction, replay: Replay, _books: Books) -> AsyncIterator[Disagreement]:
    """Check that every removed message has its tombstone, and that every message an offer showed is stored or was
    pruned."""
    for fault in differing("pruned messages", "space", replay.pruned, await tx.pruned.count()):
        yield fault
    for message_id, fault in replay.absent.items():
        if not await tx.pruned.has(message_id):
            yield fault
