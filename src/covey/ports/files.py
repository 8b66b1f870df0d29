"""Files on the sender's side, from declared folders only."""

from typing import NamedTuple, Protocol


class LoadedFile(NamedTuple):
    name: str
    path: str
    content: bytes


class Files(Protocol):
    """The files that may become file parts.

    Both methods return the present content of a file, never block on it, and keep no file open. Both raise
    FileOffLimits if the file belongs to the store of a space, under any name, or its content is private: a recipient
    of such a file could read the mail of all agents, or act as another one. Both raise Invalid if the file is not a
    readable regular file, or is over the size limit.
    """

    async def load(self, path: str) -> LoadedFile:
        """Return a file that the sender names. Raise FileOutsideRoots if its real path is under no declared root."""
        ...

    async def load_beneath(self, folder: str, path: str) -> LoadedFile:
        """Return a file that a program left in its own folder; `path` is relative to the folder. Links are not
        followed."""
        ...
