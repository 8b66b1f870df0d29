"""Files read on a thread of their own, for programs with an event loop."""

import asyncio
from collections.abc import Sequence

from covey.adapters.system.files import RootedFiles
from covey.ports.files import LoadedFile


class ThreadedFiles:
    def __init__(self, roots: Sequence[str]) -> None:
        self._files = RootedFiles(roots)

    async def load(self, path: str) -> LoadedFile:
        return await asyncio.to_thread(self._files.read, path)
