"""Blobs in memory."""

from hashlib import sha256

from covey.core.errors import BlobMissing


class MemoryBlobs:
    def __init__(self) -> None:
        self.contents: dict[str, bytes] = {}
        """What is kept, by digest; a test may damage it."""

    async def put(self, content: bytes) -> str:
        digest = sha256(content).hexdigest()
        self.contents[digest] = bytes(content)
        return digest

    async def get(self, digest: str) -> bytes:
        content = self.contents.get(digest)
        if content is None or sha256(content).hexdigest() != digest:
            raise BlobMissing(digest)
        return content

    async def has(self, digest: str) -> bool:
        return digest in self.contents
