"""Waiting: look, sleep until something rings or a while has passed, look again. A lost ring costs time, nothing
else."""

from collections.abc import Awaitable, Callable, Collection, Sequence
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

        It looks once before it listens, because listening costs more than looking, unless there can be nothing yet; and
        again as soon as it listens, because what happens between the two rings for nobody.
        """
        ends_at = self._clock.monotonic() + timeout
        if looks_first or timeout <= 0:
            found = await look()
            if found is not None or timeout <= 0:
                return found
        pauses = [step * self._recheck for step in pace]
        async with self._wakeups.listen(topics) as bell:
            while (found := await look()) is None:
                left = ends_at - self._clock.monotonic()
                if left <= 0:
                    return None
                if not await bell.wait(min(left, pauses[0])):
                    await self._tend()
                    pauses = pauses[1:] or pauses
            return found
