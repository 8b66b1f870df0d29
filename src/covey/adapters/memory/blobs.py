"""Blobs in memory."""

from collections.abc import Generator, Sequence
from contextlib import contextmanager
from hashlib import sha256
from time import monotonic

from covey.core.errors import BlobMissing
from covey.ports.blobs import KEPT_S


class MemoryBlobs:
    def __init__(self) -> None:
        self.contents: dict[str, bytes] = {}
        """Contents by digest. A test may damage them."""
        self.used_at: dict[str, float] = {}
        """Time of the last `put` or `has`, by digest. A test may set it back."""
        self._holders = 0

    async def put(self, content: bytes) -> str:
        digest = sha256(content).hexdigest()
        self.contents[digest] = bytes(content)
        self.used_at[digest] = monotonic()
        return digest

    async def get(self, digest: str) -> bytes:
        content = self.contents.get(digest)
        if content is None or sha256(content).hexdigest() != digest:
            raise BlobMissing(digest)
        return content

    async def has(self, digest: str) -> bool:
        if digest in self.contents:
            self.used_at[digest] = monotonic()
        return digest in self.contents

    async def digests(self) -> Sequence[str]:
        return sorted(self.contents)

    async def remove(self, digest: str) -> bool:
        if digest in self.contents and (self._holders or monotonic() - self.used_at[digest] < KEPT_S):
            return False
        self.contents.pop(digest, None)
        return True

    @contextmanager
    def hold(self) -> Generator[None]:
        self._holders += 1
        try:
            yield
        finally:
            self._holders -= 1


class MemoryPages:
    async def size(self) -> int:
        return 0

    async def give_back(self, limit: int) -> bool:
        del limit
        return False
