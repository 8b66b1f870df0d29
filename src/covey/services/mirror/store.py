"""The mirrored store: a ledger that foreign programs share through a folder.

Before a commit or a read, their changes are taken in; after a commit the folder is brought in line, before the commit
returns. The ledger is the truth: changes that can't be mirrored now are mirrored later, and block no caller.
"""

from collections.abc import Callable, Collection, Sequence
from typing import Any, Protocol, TypeVar

import covey.ports as ports
from covey.core.errors import StoreClosed, StoreUnconfirmed

T = TypeVar("T")

Noted = Any
"""The events of a commit (`changes.EventPage`). Untyped, because loading the class takes time, and only passes use
it."""


class Passes(Protocol):
    """Passes over the folder, one at a time."""

    @property
    def confirms(self) -> bool:
        """True if the passes wait for the disk on behalf of commits, so that commits need not."""
        ...

    async def run(self) -> None:
        """Return when a pass is over that began after the call. Concurrent callers may share a pass."""
        ...

    async def follow(self, noted: Noted, *, is_light: bool) -> None:
        """Like `run`, after a commit with these events. If `confirms` is true and the commit was not light, the commit
        is durable on return. Raise Unavailable if the disk did not confirm it."""
        ...

    async def confirm(self, *, is_light: bool) -> None:
        """Confirm durability, as `follow` does, of a commit that changed nothing in the folder."""
        ...

    def begin(self) -> None:
        """Start making a commit durable and visible, for a caller that does not wait for it."""
        ...

    async def close(self) -> None:
        """Finish running passes, and close the folder."""
        ...


class MirrorPass(Protocol):
    """One pass, with the events of recent commits."""

    async def run(self, noted: Collection[Noted] = ()) -> None: ...


class InlinePasses:
    """`Passes` in the calling thread, over a ledger that confirms its own commits. The implementation is loaded with
    the first pass: a short-lived program that finds everything in line needs none."""

    confirms = False

    def __init__(self, folder: "ports.Folder", make: Callable[[], MirrorPass]) -> None:
        self._folder = folder
        self._make = make
        self._made: MirrorPass | None = None

    async def run(self) -> None:
        await self._passing().run()

    async def follow(self, noted: Noted, *, is_light: bool) -> None:
        del is_light
        await self._passing().run(() if noted is None else (noted,))

    async def confirm(self, *, is_light: bool) -> None:
        del is_light

    def begin(self) -> None:
        return

    async def close(self) -> None:
        await self._folder.close()

    def _passing(self) -> MirrorPass:
        self._made = self._made or self._make()
        return self._made


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
            return await (self._commit_long if is_long else self._commit)(operation, is_light)
        finally:
            self._under_way -= 1

    async def read(self, operation: "ports.Operation[T]", *, is_long: bool = False) -> T:
        await self._look()
        return await self._ledger.read(operation, is_long=is_long)

    async def close(self) -> None:
        if self._is_closed:
            return
        self._is_closed = True
        if self._under_way:
            await self._ledger.close()  # closing finishes running commits, which are mirrored too
            await self._passes.follow(None, is_light=False)
        await self._passes.close()
        await self._ledger.close()

    async def _commit(self, operation: "ports.Operation[T]", is_light: bool) -> T:
        from covey.services.mirror.changes import recording  # imported late because most short-lived programs only read

        noted = recording(operation, self._folder.layout)
        try:
            value, page = await self._ledger.commit(noted, is_light=is_light or self._passes.confirms)
        except Exception:
            raise
        except BaseException:
            self._passes.begin()  # the caller was cancelled, but the commit may have happened
            raise
        # A commit counts, even if mirroring it fails.
        try:
            if page.last != self._folder.position and not self._is_closed:
                await self._passes.follow(page, is_light=is_light)
            else:
                await self._passes.confirm(is_light=is_light)
        except StoreUnconfirmed as error:
            raise error.about(_sent(page)) from error
        return value

    async def _commit_long(self, operation: "ports.Operation[T]", is_light: bool) -> T:
        value = await self._ledger.commit(operation, is_long=True, is_light=is_light)
        if not self._is_closed:
            await self._show()
        return value

    async def _look(self) -> None:
        """Take in the changes of other programs."""
        if self._is_closed:
            raise StoreClosed
        if self._folder.has_news():
            await self._passes.run()
        elif self._is_new:  # an earlier process may have been killed between its commit and its pass
            await self._show()
        self._is_new = False

    async def _show(self) -> None:
        """Bring the folder in line, if the journal has grown."""
        if await self._ledger.read(_last) != self._folder.position:
            await self._passes.run()


def _sent(page: Noted) -> Sequence[str]:
    """Return the messages that a commit sent."""
    from covey.core.ledger.event import Action  # imported late because a disk seldom fails

    return [event.message_id for event in page.events if event.action is Action.MESSAGE_SENT]


async def _last(tx: "ports.Transaction") -> int:
    return await tx.journal.last()
