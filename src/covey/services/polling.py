"""Polling: look, sleep until a wake-up or a timeout, look again.

A lost wake-up costs time, and nothing else."""

from collections.abc import Awaitable, Callable, Collection, Sequence
from contextlib import AbstractAsyncContextManager
from typing import Final, TypeVar

from covey.core.limits import RECHECK_SECONDS
from covey.core.names import Topic
from covey.ports.clock import Bell, Clock, Wakeups

T = TypeVar("T")

SOON_S: Final = 0.003
"""Seconds. Fast responders have answered within this time, so that a poll that is needed anyway is delayed by it."""


class Poller:
    def __init__(
        self,
        wakeups: Wakeups,
        clock: Clock,
        tend: Callable[[], Awaitable[object]] | None,
        recheck: float = RECHECK_SECONDS,
    ) -> None:
        self._wakeups = wakeups
        self._clock = clock
        self._tend = tend
        """Runs the upkeep; None for callers that only read, and change nothing."""
        self._recheck = recheck

    async def until(
        self,
        topics: Collection[Topic],
        look: Callable[[], Awaitable[T | None]],
        timeout: float,
        pace: Sequence[float] = (1.0,),
    ) -> T | None:
        """Return the first result of `look`, or None after `timeout` seconds. `pace` gives the sleeps without a wake-up
        between two polls: multiples of the usual interval, in order; the last one repeats.

        It polls once before it listens, because listening costs more than a poll; and again as soon as it listens,
        because a change in between wakes no listener.
        """
        found = await look()
        if found is not None or timeout <= 0:
            return found
        async with self.listen(topics) as bell:
            found = await look()
            return found if found is not None else await self.after(bell, look, timeout, pace)

    async def expected(
        self, topics: Collection[Topic], look: Callable[[], Awaitable[T | None]], timeout: float
    ) -> tuple[T | None, bool]:
        """Like `until`, but wait briefly for a wake-up before the first poll, for a caller that expects to find nothing
        yet. So a session in a conversation polls once per message, and not twice. Also tell whether the call had to
        wait."""
        async with self.listen(topics) as bell:
            is_rung = await bell.wait(min(timeout, SOON_S))
            found = await look()
            if found is not None:
                return found, is_rung
            return await self.after(bell, look, timeout), True

    def listen(self, topics: Collection[Topic]) -> AbstractAsyncContextManager[Bell]:
        """Return a bell for a caller that must listen before it acts, so that it misses no response."""
        return self._wakeups.listen(topics)

    async def after(
        self, bell: Bell, look: Callable[[], Awaitable[T | None]], timeout: float, pace: Sequence[float] = (1.0,)
    ) -> T | None:
        """Like `until`, but begin with waiting for the bell: the caller has polled before."""
        ends_at = self._clock.monotonic() + timeout
        pauses = [step * self._recheck for step in pace]
        found: T | None = None
        while found is None:
            left = ends_at - self._clock.monotonic()
            if left <= 0:
                return None
            if not await bell.wait(min(left, pauses[0])):
                if self._tend is not None:
                    await self._tend()
                pauses = pauses[1:] or pauses
            found = await look()
        return found
