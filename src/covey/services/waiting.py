"""Waiting: look, sleep until something rings or a while has passed, look again. A lost ring costs time, nothing
else."""

from collections.abc import Awaitable, Callable, Collection, Sequence
from contextlib import AbstractAsyncContextManager
from typing import Final, TypeVar

from covey.core.ids import Topic
from covey.core.limits import RECHECK_SECONDS
from covey.ports.clock import Clock
from covey.ports.wakeups import Bell, Wakeups

T = TypeVar("T")

SOON_S: Final = 0.003
"""Within this time models that need no time would have answered. Who has to look anyway looks so much later."""


class Waiting:
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
        """Writes down what time has done; None for those who only look, and change nothing."""
        self._recheck = recheck

    async def until(
        self,
        topics: Collection[Topic],
        look: Callable[[], Awaitable[T | None]],
        timeout: float,
        pace: Sequence[float] = (1.0,),
    ) -> T | None:
        """Return what `look` finds, or None when `timeout` seconds have passed. `pace` says how long it sleeps without
        a ring before it looks anyway: in multiples of the usual time, one after the other, the last again and again.

        It looks once before it listens, because listening costs more than looking; and again as soon as it listens,
        because what happens between the two rings for nobody.
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
        """Do the same for who has nothing yet and hardly ever will: a ring gets the chance to come before the first
        look. So one that goes back and forth with others looks once for each message, and not twice. Tell, too,
        whether it had to wait."""
        async with self.listen(topics) as bell:
            is_rung = await bell.wait(min(timeout, SOON_S))
            found = await look()
            if found is not None:
                return found, is_rung
            return await self.after(bell, look, timeout), True

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
                if self._tend is not None:
                    await self._tend()
                pauses = pauses[1:] or pauses
            found = await look()
        return found
