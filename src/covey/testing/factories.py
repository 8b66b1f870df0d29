"""Factories with which a contract opens the adapter under test, in its own process and in others."""

import importlib
from collections.abc import AsyncGenerator, Callable, Collection
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import NamedTuple, Protocol, TypeVar, cast

from covey.core.names import Topic
from covey.ports.clock import Wakeups
from covey.ports.directory import Liveness
from covey.ports.launcher import Launcher
from covey.ports.ledger import Search
from covey.ports.log import Log, LogSnapshots
from covey.ports.store import Store
from covey.ports.views import Views

Ring = Callable[[Collection[Topic]], None]
"""Called by a store with the topics that ring."""

OpenStore = Callable[[Ring], AbstractAsyncContextManager[Store]]
"""Opens a store. Every call within one test opens the same space; each test has a fresh space."""

OpenWakeups = Callable[[], AbstractAsyncContextManager[Wakeups]]
OpenLiveness = Callable[[], Liveness]
OpenLauncher = Callable[[], AbstractAsyncContextManager[Launcher]]


OpenLog = Callable[[], Log]
"""Opens a log. Every call within one test opens the same log; at the start of each test the log does not exist."""

OpenLogSnapshots = Callable[[], LogSnapshots]


class SearchedStore(NamedTuple):
    """A store, and the search that follows it."""

    store: Store
    search: Search


OpenSearch = Callable[[], AbstractAsyncContextManager[SearchedStore]]


class ViewedStore(NamedTuple):
    """A store, and the views of its snapshots."""

    store: Store
    views: Views


OpenViews = Callable[[], AbstractAsyncContextManager[ViewedStore]]


class Locator(NamedTuple):
    """The data with which another process opens the same space: an importable function, and its first argument.

    The function takes `(argument, ring)` for a store and `(argument)` for any other port. It returns the same as a call
    of the fixture of that port.
    """

    factory: str
    """module:function"""
    argument: str

    def store(self, ring: Ring) -> AbstractAsyncContextManager[Store]:
        """Open the store."""
        return cast(AbstractAsyncContextManager[Store], self._function()(self.argument, ring))

    def wakeups(self) -> AbstractAsyncContextManager[Wakeups]:
        """Open the wake-ups."""
        return cast(AbstractAsyncContextManager[Wakeups], self._function()(self.argument))

    def liveness(self) -> Liveness:
        """Open the liveness port."""
        return cast(Liveness, self._function()(self.argument))

    def _function(self) -> Callable[..., object]:
        module, _, function = self.factory.partition(":")
        return getattr(importlib.import_module(module), function)


class Closes(Protocol):
    async def close(self) -> None: ...


C = TypeVar("C", bound=Closes)


@asynccontextmanager
async def closing(thing: C) -> AsyncGenerator[C]:
    """Yield `thing`, and close it at the end."""
    try:
        yield thing
    finally:
        await thing.close()


def silent(_topics: Collection[Topic]) -> None:
    """Ignore a ring."""
