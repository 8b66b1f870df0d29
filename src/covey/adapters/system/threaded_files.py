"""Files that are read on a thread, for programs with an event loop."""

import asyncio
from collections.abc import Sequence

from covey.adapters.system.files import RootedFiles
from covey.adapters.system.store_files import StoreFiles
from covey.ports.blobs import LoadedFile


class ThreadedFiles:
    def __init__(self, roots: Sequence[str], store: StoreFiles) -> None:
        self._files = RootedFiles(roots, store)

    async def load(self, path: str) -> LoadedFile:
        return await asyncio.to_thread(self._files.read, path)

    async def load_beneath(self, folder: str, path: str) -> LoadedFile:
        return await asyncio.to_thread(self._files.read_beneath, folder, path)
