"""Pages: the room that a space takes on the disk."""

from typing import Protocol


class Pages(Protocol):
    """What was removed leaves free pages behind. New records take them; the rest can be given back."""

    async def size(self) -> int:
        """Return how many bytes the records take on the disk, free pages included."""
        ...

    async def give_back(self, limit: int) -> bool:
        """Give up to `limit` free pages back to the file system, in one short turn; tell whether there are more to
        give back."""
        ...
