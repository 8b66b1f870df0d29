"""The clock, the source of ids, and wake-ups. Clock and ids are everything that differs from run to run, so that tests
can control it. Wake-ups are hints to read the store again: the store is the truth, and every wake-up may be lost."""

from collections.abc import Collection
from contextlib import AbstractAsyncContextManager
from datetime import datetime
from typing import Protocol

from covey.core.names import MessageId, OfferId, SessionId, Topic


class Clock(Protocol):
    def now(self) -> datetime:
        """Return the present time in UTC."""
        ...

    def monotonic(self) -> float:
        """Return the seconds of a monotonic clock, for measuring durations."""
        ...


class Ids(Protocol):
    def message_id(self, now: datetime) -> MessageId:
        """Return a new id: the milliseconds of `now`, and a random uuid."""
        ...

    def session_id(self) -> SessionId:
        """Return a new random uuid."""
        ...

    def offer_id(self) -> OfferId:
        """Return a new random uuid."""
        ...

    def secret(self) -> str:
        """Return a new random secret."""
        ...


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
