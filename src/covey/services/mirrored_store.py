"""The mirrored store: a ledger that foreign programs share through a folder.

Before a commit or a read, what they have done is taken in; after a commit the folder is brought in line, before it
returns. The ledger is the truth: what can't be mirrored now is mirrored later, and nobody is kept from anything.
"""

from collections.abc import Callable
from typing import Protocol, TypeVar

from covey import ports
from covey.core.errors import StoreClosed

T = TypeVar("T")


class Passes(Protocol):
    """What makes passes over the folder, one at a time."""

    async def run(self) -> None:
        """Return when a pass is over that began after the call. It may be shared with others who wait for one."""
        ...

    async def close(self) -> None:
        """End what is under way, and let go of the folder."""
        ...


class OwnPasses:
    """`Passes` in the calling thread. What makes them is loaded with the first: a short-lived program that finds
    everything in line needs none."""

    def __init__(self, folder: "ports.Folder", make: Callable[[], Passes]) -> None:
        self._folder = folder
        self._make = make
        self._made: Passes | None = None

    async def run(self) -> None:
        self._made = self._made or self._make()
        await self._made.run()

    async def close(self) -> None:
        await self._folder.close()


class MirroredStore:
    def __init__(self, ledger: "ports.Store", folder: "ports.Folder", passes: Passes) -> None:
        self._ledger = ledger
        self._folder = folder
        self._passes = passes
        self._under_way = 0
        self._is_new = True
        self._is_closed = False

    @property
    def capabilities(self) -> "ports.Capabilities":
        return self._ledger.capabilities

    async def commit(self, operation: "ports.Operation[T]", *, is_long: bool = False, is_light: bool = False) -> T:
        await self._look()
        self._under_way += 1
        try:
            value = await self._ledger.commit(operation, is_long=is_long, is_light=is_light)
            if not self._is_closed:
                await self._show()
        finally:
            self._under_way -= 1
        return value

    async def read(self, operation: "ports.Operation[T]", *, is_long: bool = False) -> T:
        await self._look()
        return await self._ledger.read(operation, is_long=is_long)

    async def close(self) -> None:
        if self._is_closed:
            return
        self._is_closed = True
        if self._under_way:
            await self._ledger.close()  # it finishes what was begun, and that is shown, too
            await self._passes.run()
        await self._passes.close()
        await self._ledger.close()

    async def _look(self) -> None:
        """Take in what others have done."""
        if self._is_closed:
            raise StoreClosed
        if self._folder.has_news():
            await self._passes.run()
        elif self._is_new:  # who was here before may have been killed between its commit and its pass
            await self._show()
        self._is_new = False

    async def _show(self) -> None:
        """Bring the folder in line, if something has happened. A commit counts whatever becomes of that."""
        if await self._ledger.read(_last) != self._folder.position:
            await self._passes.run()


async def _last(tx: "ports.Transaction") -> int:
    return await tx.journal.last()
