"""Blobs on threads, for programs with an event loop: a large file must not block the loop."""

import asyncio

from covey.adapters.blobfiles.blobs import BlobFiles
from covey.core.drive import finish
from covey.ports.blobs import Blobs


class ThreadedBlobs:
    """`Blobs` around the blobs in a folder, or around any others that block the calling thread."""

    def __init__(self, blobs: str | Blobs) -> None:
        self._blobs: Blobs = BlobFiles(blobs) if isinstance(blobs, str) else blobs

    async def put(self, content: bytes) -> str:
        return await asyncio.to_thread(lambda: finish(self._blobs.put(content)))

    async def get(self, digest: str) -> bytes:
        return await asyncio.to_thread(lambda: finish(self._blobs.get(digest)))

    async def has(self, digest: str) -> bool:
        return await asyncio.to_thread(lambda: finish(self._blobs.has(digest)))
