"""Pages: the disk space of a store."""

from typing import Protocol


class Pages(Protocol):
    """The pages of a store's file. Removed records leave free pages. New records reuse them; the rest can be given back
    to the file system."""

    async def size(self) -> int:
        """Return the size of the records on the disk in bytes, free pages included."""
        ...

    async def give_back(self, limit: int) -> bool:
        """Give up to `limit` free pages back to the file system, in one short transaction. Tell whether there are
        more."""
        ...
