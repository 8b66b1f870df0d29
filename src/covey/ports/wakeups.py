"""Wake-ups: hints to read the store again. The store is the truth; every wake-up may be lost."""

from collections.abc import Collection
from contextlib import AbstractAsyncContextManager
from typing import Protocol

from covey.core.ids import Topic


class Bell(Protocol):
    """The wake-ups of one waiter."""

    async def wait(self, timeout: float) -> bool:
        """Wait for a ring since the bell was made or last waited on, at most for `timeout` seconds. Return True for a
        ring, False for the timeout. A ring between two waits is kept; several count as one."""
        ...


class Wakeups(Protocol):
    """Topics that ring, among all processes that have the space open."""

    def ring(self, topics: Collection[Topic]) -> None:
        """Wake the listeners to any of the topics. This never blocks and never fails, and any thread may call it. Other
        listeners are not woken on purpose."""
        ...

    def listen(self, topics: Collection[Topic]) -> AbstractAsyncContextManager[Bell]:
        """Return a bell that hears the topics from when its context is entered until it is left."""
        ...

    async def close(self) -> None:
        """Release all resources. Bells that are waiting then wait until their timeouts."""
        ...
