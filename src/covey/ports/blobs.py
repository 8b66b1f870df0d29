"""Blobs: bytes by the hash of their content."""

from collections.abc import Sequence
from contextlib import AbstractContextManager
from typing import Final, Protocol

KEPT_S: Final = 3600.0
"""How long a blob stays, in seconds, after it was put or asked for: a message that refers to it may be on its way."""


class Blobs(Protocol):
    """Snapshots of files, each stored once, durable when `put` returns."""

    async def put(self, content: bytes) -> str:
        """Keep the content and return its digest, sha256 in hex. The same content again changes nothing."""
        ...

    async def get(self, digest: str) -> bytes:
        """Return the content. BlobMissing where it is not there; content that does not fit its digest counts as
        missing, and so does everything where `digest` is none."""
        ...

    async def has(self, digest: str) -> bool:
        """Tell whether the content is there."""
        ...


class BlobUpkeep(Protocol):
    """Blobs that can be cleaned out while others put and ask for them."""

    async def digests(self) -> Sequence[str]:
        """Return the digests of all that is kept, sorted."""
        ...

    async def remove(self, digest: str) -> bool:
        """Remove the content, and tell whether it is gone. It stays where it was put or `has` was asked for it within
        the last hour, and while somebody holds."""
        ...

    def hold(self) -> AbstractContextManager[None]:
        """Return a context in which nothing is removed, by any process."""
        ...
