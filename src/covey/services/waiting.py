"""Waiting: look, sleep until something rings or a while has passed, look again. A lost ring costs time, nothing
else."""

from collections.abc import Awaitable, Callable, Collection, Sequence
from contextlib import AbstractAsyncContextManager
from typing import TypeVar

from covey.core.ids import Topic
from covey.core.limits import RECHECK_SECONDS
from covey.ports.clock import Clock
from covey.ports.wakeups import Bell, Wakeups

T = TypeVar("T")


class Waiting:
    def __init__(
        self,
        wakeups: Wakeups,
        clock: Clock,
        tend: Callable[[], Awaitable[object]],
        recheck: float = RECHECK_SECONDS,
    ) -> None:
        self._wakeups = wakeups
        self._clock = clock
        self._tend = tend
        self._recheck = recheck

    async def until(
        self,
        topics: Collection[Topic],
        look: Callable[[], Awaitable[T | None]],
        timeout: float,
        pace: Sequence[float] = (1.0,),
        *,
        looks_first: bool = True,
    ) -> T | None:
        """Return what `look` finds, or None when `timeout` seconds have passed. `pace` says how long it sleeps without
        a ring before it looks anyway: in multiples of the usual time, one after the other, the last again and again.

        It looks once before it listens, because listening costs more than looking, unless there is hardly anything yet;
        and again as soon as it listens, because what happens between the two rings for nobody.
        """
        if looks_first or timeout <= 0:
            found = await look()
            if found is not None or timeout <= 0:
                return found
        async with self.listen(topics) as bell:
            found = await look()
            return found if found is not None else await self.after(bell, look, timeout, pace)

    def listen(self, topics: Collection[Topic]) -> AbstractAsyncContextManager[Bell]:
        """Return a bell for who listens before it does what others will answer to."""
        return self._wakeups.listen(topics)

    async def after(
        self, bell: Bell, look: Callable[[], Awaitable[T | None]], timeout: float, pace: Sequence[float] = (1.0,)
    ) -> T | None:
        """Do as `until` does, where there is nothing to be found before the bell rings."""
        ends_at = self._clock.monotonic() + timeout
        pauses = [step * self._recheck for step in pace]
        found: T | None = None
        while found is None:
            left = ends_at - self._clock.monotonic()
            if left <= 0:
                return None
            if not await bell.wait(min(left, pauses[0])):
                await self._tend()
                pauses = pauses[1:] or pauses
            found = await look()
        return found
