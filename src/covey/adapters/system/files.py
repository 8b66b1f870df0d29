"""Files from declared folders, read whole."""

import os
import stat
from collections.abc import Sequence
from typing import Final

from covey.core.errors import FileOutsideRoots, Invalid
from covey.ports.files import LoadedFile

MAX_FILE_BYTES: Final = 64 * 1024 * 1024


class RootedFiles:
    """Reads files whose real path, links followed, is under one of the roots."""

    def __init__(self, roots: Sequence[str]) -> None:
        self._roots = [os.path.realpath(os.path.expanduser(root)) for root in roots]

    async def load(self, path: str) -> LoadedFile:
        return self.read(path)

    def read(self, path: str) -> LoadedFile:
        """Do what `load` says, in the calling thread."""
        if "\0" in path:
            raise Invalid("file", path, "a path has no NUL")
        real = os.path.realpath(os.path.expanduser(path))
        if not any(real == root or real.startswith(os.path.join(root, "")) for root in self._roots):
            raise FileOutsideRoots(path, self._roots)
        try:
            # Not to wait for a writer where a pipe stands in the file's place.
            descriptor = os.open(real, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC)
        except OSError as error:
            raise Invalid("file", path, os.strerror(error.errno or 0).lower()) from None
        with open(descriptor, "rb") as file:
            about = os.fstat(file.fileno())
            if not stat.S_ISREG(about.st_mode):
                raise Invalid("file", path, "it is not a regular file")
            content = file.read(MAX_FILE_BYTES + 1)
        if len(content) > MAX_FILE_BYTES:
            raise Invalid("file", path, f"it is over the limit of {MAX_FILE_BYTES} bytes")
        return LoadedFile(os.path.basename(real), path, content)
