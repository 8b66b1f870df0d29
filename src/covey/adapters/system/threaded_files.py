"""Files and blobs on threads, for programs with an event loop: a large file must not block the loop."""

import asyncio
from collections.abc import Sequence

from covey.adapters.system.blobs import BlobFiles
from covey.adapters.system.files import RootedFiles, StoreFiles
from covey.core.coroutine import finish
from covey.ports.blobs import Blobs, LoadedFile


class ThreadedFiles:
    def __init__(self, roots: Sequence[str], store: StoreFiles) -> None:
        self._files = RootedFiles(roots, store)

    async def load(self, path: str) -> LoadedFile:
        return await asyncio.to_thread(self._files.read, path)

    async def load_beneath(self, folder: str, path: str) -> LoadedFile:
        return await asyncio.to_thread(self._files.read_beneath, folder, path)


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
