"""What was pruned under audit: the tombstones tell of as many messages as are remembered, and nothing else is gone."""

from collections.abc import AsyncIterator

from covey.core.disagreement import Disagreement, differing
from covey.core.replay import Replay
from covey.ports.store import Transaction
from covey.services.audit_books import Books


async def pruned_faults(tx: Transaction, replay: Replay, _books: Books) -> AsyncIterator[Disagreement]:
    """Every message that left has its tombstone, and what an offer showed is here or has left in this way."""
    for fault in differing("pruned messages", "space", replay.pruned, await tx.pruned.count()):
        yield fault
    for message_id, fault in replay.absent.items():
        if not await tx.pruned.has(message_id):
            yield fault
