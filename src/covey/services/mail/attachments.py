"""Attachments: files become message parts, stored by content at the time they are attached."""

from covey.core.errors import BlobMissing
from covey.core.ledger.message import FilePart
from covey.ports.blobs import Blobs, Files


class Attachments:
    def __init__(self, blobs: Blobs, files: Files) -> None:
        self._blobs = blobs
        self._files = files

    async def snapshot(self, path: str, media_type: str = "application/octet-stream") -> FilePart:
        """Return a file part with the file's present content. Later changes to the file do not affect it."""
        loaded = await self._files.load(path)
        digest = await self._blobs.put(loaded.content)
        return FilePart(loaded.name, digest, len(loaded.content), media_type, loaded.path)

    async def left_in(self, folder: str, path: str) -> bytes:
        """Return the content of a file that a program left in its folder."""
        return (await self._files.load_beneath(folder, path)).content

    async def keep(self, name: str, content: bytes, media_type: str = "application/octet-stream") -> FilePart:
        """Store bytes that are not a local file, and return a file part for them."""
        return FilePart(name, await self._blobs.put(content), len(content), media_type)

    async def known(self, part: FilePart) -> FilePart:
        """Return a file part if its content is stored. Raise BlobMissing if it is not."""
        if not await self._blobs.has(part.digest):
            raise BlobMissing(part.digest)
        return part

    async def content(self, part: FilePart) -> bytes:
        """Return the bytes of a file part."""
        return await self._blobs.get(part.digest)
