"""How a contract opens what it tests, in its own process and in others."""

import importlib
from collections.abc import AsyncGenerator, Callable, Collection
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import NamedTuple, Protocol, TypeVar, cast

from covey.core.ids import Topic
from covey.ports.directory import Liveness
from covey.ports.launcher import Launcher
from covey.ports.log import Log, LogSnapshots
from covey.ports.search import Search
from covey.ports.store import Store
from covey.ports.views import Views
from covey.ports.wakeups import Wakeups

Ring = Callable[[Collection[Topic]], None]
"""Where a store says which topics ring."""

OpenStore = Callable[[Ring], AbstractAsyncContextManager[Store]]
"""Opens a store. Every call within one test opens the same space; each test has a fresh one."""

OpenWakeups = Callable[[], AbstractAsyncContextManager[Wakeups]]
OpenLiveness = Callable[[], Liveness]
OpenLauncher = Callable[[], AbstractAsyncContextManager[Launcher]]


OpenLog = Callable[[], Log]
"""Opens a log. Every call within one test opens the same one; each test has one that is not there yet."""

OpenLogSnapshots = Callable[[], LogSnapshots]


class Searched(NamedTuple):
    """A store, and the search that follows it."""

    store: Store
    search: Search


OpenSearch = Callable[[], AbstractAsyncContextManager[Searched]]


class Viewed(NamedTuple):
    """A store, and what shows it as it is at one moment."""

    store: Store
    views: Views


OpenViews = Callable[[], AbstractAsyncContextManager[Viewed]]


class Locator(NamedTuple):
    """What another process needs to open the same space: an importable function, and its first argument.

    The function is `(argument, ring)` for a store and `(argument)` for anything else; it returns what the fixture
    of the same port returns when it is called.
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
        """Open what knows who is alive."""
        return cast(Liveness, self._function()(self.argument))

    def _function(self) -> Callable[..., object]:
        module, _, function = self.factory.partition(":")
        return getattr(importlib.import_module(module), function)


class Closes(Protocol):
    async def close(self) -> None: ...


C = TypeVar("C", bound=Closes)


@asynccontextmanager
async def closing(thing: C) -> AsyncGenerator[C]:
    """Give `thing`, and close it at the end."""
    try:
        yield thing
    finally:
        await thing.close()


def silent(_topics: Collection[Topic]) -> None:
    """Ring nobody."""
