"""Files on the sender's side, from declared folders only."""

from typing import NamedTuple, Protocol


class LoadedFile(NamedTuple):
    name: str
    path: str
    content: bytes


class Files(Protocol):
    """The files that may become file parts."""

    async def load(self, path: str) -> LoadedFile:
        """Return the file as it is now. FileOutsideRoots where its real path is under no declared root; Invalid
        where it can't be read as a regular file or is over the limit."""
        ...
