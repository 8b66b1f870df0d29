"""Leftovers: blobs that no message refers to."""

from collections.abc import Sequence
from typing import Final

from covey.ports.blobs import BlobUpkeep
from covey.ports.store import Store

PAGE: Final = 500
"""The number of messages with files per read."""


async def unused_blobs(store: Store, blobs: BlobUpkeep) -> Sequence[str]:
    """Return the digests of stored blobs that no message refers to. The blobs are listed first, so that a blob stored
    afterwards, for a message that is being sent, is not among them."""
    kept = await blobs.digests()
    if not kept:
        return ()
    used = await used_blobs(store)
    return [digest for digest in kept if digest not in used]


async def used_blobs(store: Store) -> frozenset[str]:
    """Return the digests that messages refer to."""
    used: set[str] = set()
    after: int | None = 0
    while after is not None:
        page = await store.read(lambda tx, after=after: tx.holdings.files(after, PAGE), is_long=True)
        used.update(page.items)
        after = page.after
    return frozenset(used)
