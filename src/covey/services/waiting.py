"""Waiting: look, sleep until something rings or a while has passed, look again. A lost ring costs time, nothing
else."""

from collections.abc import Awaitable, Callable, Collection
from typing import TypeVar

from covey.core.ids import Topic
from covey.core.limits import RECHECK_SECONDS
from covey.ports.clock import Clock
from covey.ports.wakeups import Wakeups

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
        self, topics: Collection[Topic], look: Callable[[], Awaitable[T | None]], timeout: float
    ) -> T | None:
        """Return what `look` finds, or None when `timeout` seconds have passed.

        It looks once before it listens, because listening costs more than looking; and again as soon as it listens,
        because what happens between the two rings for nobody.
        """
        ends_at = self._clock.monotonic() + timeout
        if (found := await look()) is not None or timeout <= 0:
            return found
        async with self._wakeups.listen(topics) as bell:
            while (found := await look()) is None:
                left = ends_at - self._clock.monotonic()
                if left <= 0:
                    return None
                if not await bell.wait(min(left, self._recheck)):
                    await self._tend()
            return found
