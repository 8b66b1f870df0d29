"""Blobs: content-addressed bytes."""

from collections.abc import Sequence
from contextlib import AbstractContextManager
from typing import Final, NamedTuple, Protocol

KEPT_S: Final = 3600.0
"""The time in seconds for which a blob stays after it was put or asked for: a message that refers to it may still be
on its way."""


class Blobs(Protocol):
    """Snapshots of files, each stored once, durable when `put` returns."""

    async def put(self, content: bytes) -> str:
        """Store the content and return its digest, sha256 in hex. Storing the same content again changes nothing."""
        ...

    async def get(self, digest: str) -> bytes:
        """Return the content. Raise BlobMissing if it is not stored, if its hash is not `digest`, or if `digest` is not
        a valid digest."""
        ...

    async def has(self, digest: str) -> bool:
        """Tell whether the content is stored."""
        ...


class BlobUpkeep(Protocol):
    """Removal of blobs while other programs put and read them."""

    async def digests(self) -> Sequence[str]:
        """Return the digests of all stored blobs, sorted."""
        ...

    async def remove(self, digest: str) -> bool:
        """Remove the content, and tell whether it is gone. The content stays if it was put, or `has` was called for it,
        within the last hour, and while any process is in `hold`."""
        ...

    def hold(self) -> AbstractContextManager[None]:
        """Return a context in which no process removes a blob."""
        ...


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
