"""Blobs: content-addressed bytes."""

from collections.abc import Sequence
from contextlib import AbstractContextManager
from typing import Final, Protocol

KEPT_S: Final = 3600.0
"""The time in seconds for which a blob stays after it was put or asked for: a message that refers to it may still be
on its way."""


class Blobs(Protocol):
    """Snapshots of files, each stored once, durable when `put` returns."""

    async def put(self, content: bytes) -> str:
        """Store the content and return its digest, sha256 in hex. Storing the same content again changes nothing."""
        ...

    async def get(self, digest: str) -> bytes:
        """Return the content. Raise BlobMissing if it is not stored, if its hash is not `digest`, or if `digest` is not
        a valid digest."""
        ...

    async def has(self, digest: str) -> bool:
        """Tell whether the content is stored."""
        ...


class BlobUpkeep(Protocol):
    """Removal of blobs while other programs put and read them."""

    async def digests(self) -> Sequence[str]:
        """Return the digests of all stored blobs, sorted."""
        ...

    async def remove(self, digest: str) -> bool:
        """Remove the content, and tell whether it is gone. The content stays if it was put, or `has` was called for it,
        within the last hour, and while any process is in `hold`."""
        ...

    def hold(self) -> AbstractContextManager[None]:
        """Return a context in which no process removes a blob."""
        ...
