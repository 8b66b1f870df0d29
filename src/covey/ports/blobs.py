"""Blobs: bytes by the hash of their content."""

from typing import Protocol


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
