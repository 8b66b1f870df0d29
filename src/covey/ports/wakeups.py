"""Wake-ups: hints that it may be worth looking. The store is the truth; every wake-up may be lost."""

from collections.abc import Collection
from contextlib import AbstractAsyncContextManager
from typing import Protocol

from covey.core.ids import Topic


class Bell(Protocol):
    """One waiter."""

    async def wait(self, timeout: float) -> bool:
        """Wait until a topic has rung since the bell was made or last waited on, or for `timeout` seconds; tell
        which. A ring between two waits is kept, several are one."""
        ...


class Wakeups(Protocol):
    """Topics that ring, among all processes that have the space open."""

    def ring(self, topics: Collection[Topic]) -> None:
        """Wake who listens to any of the topics. Never blocks, never fails, wakes nobody else on purpose. Any thread
        may ring."""
        ...

    def listen(self, topics: Collection[Topic]) -> AbstractAsyncContextManager[Bell]:
        """Return a bell that hears the topics from the moment it is entered until it is left."""
        ...

    async def close(self) -> None:
        """Let go of everything; bells that are waiting run into their timeouts."""
        ...
