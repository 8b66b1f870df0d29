"""Files on the sender's side, from declared folders only."""

from typing import NamedTuple, Protocol


class LoadedFile(NamedTuple):
    name: str
    path: str
    content: bytes


class Files(Protocol):
    """The files that may become file parts.

    Both methods return a file as it is now, never wait for it, and keep none open. FileOffLimits where it belongs to
    the store of a space, under any name, or is private by its content: whoever gets such a file could read the mail of
    all agents, or act as somebody else. Invalid where it can't be read as a regular file or is over the limit.
    """

    async def load(self, path: str) -> LoadedFile:
        """Return a file that the sender names. FileOutsideRoots where its real path is under no declared root."""
        ...

    async def load_beneath(self, folder: str, path: str) -> LoadedFile:
        """Return a file that a program left in a folder that was made for it, by its path there. Links are not
        followed."""
        ...
