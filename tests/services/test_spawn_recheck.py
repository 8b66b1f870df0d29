"""Rechecks of a wait for a child whose wake-up was lost: after 1, 2 and 4 seconds, then every 8 seconds."""

from collections.abc import AsyncGenerator, Collection
from contextlib import asynccontextmanager

import pytest

from covey.core.limits import RECHECK_SECONDS, RUN_PACE
from covey.core.names import Topic
from covey.services.polling import Poller
from covey.testing.fakes import HandClock


class DeadBell:
    """A bell that never rings. The clock advances with each wait."""

    def __init__(self, clock: HandClock) -> None:
        self._clock = clock
        self.waited: list[float] = []

    async def wait(self, timeout: float) -> bool:
        self.waited.append(timeout)
        self._clock.advance(timeout)
        return False


class DeadBells:
    def __init__(self, bell: DeadBell) -> None:
        self._bell = bell

    def ring(self, topics: Collection[Topic]) -> None: ...

    @asynccontextmanager
    async def _listen(self) -> AsyncGenerator[DeadBell]:
        yield self._bell

    def listen(self, topics: Collection[Topic]):
        return self._listen()

    async def close(self) -> None: ...


async def nothing() -> None: ...


@pytest.mark.requirement("sessions.push")
async def test_the_re_check_for_a_result_backs_off_from_one_to_eight_seconds() -> None:
    clock = HandClock()
    bell = DeadBell(clock)
    looks: list[float] = []
    began = clock.monotonic()

    async def look() -> str | None:
        looks.append(clock.monotonic() - began)
        return "it is there" if looks[-1] > 40 else None

    waiting = Poller(DeadBells(bell), clock, nothing, RECHECK_SECONDS)
    assert await waiting.until([], look, 100, RUN_PACE) == "it is there"
    assert bell.waited == [1, 2, 4, 8, 8, 8, 8, 8]
    assert looks == [0, 0, 1, 3, 7, 15, 23, 31, 39, 47]


async def test_the_last_wait_is_no_longer_than_the_time_that_is_left() -> None:
    clock = HandClock()
    bell = DeadBell(clock)

    async def look() -> None: ...

    assert await Poller(DeadBells(bell), clock, nothing, RECHECK_SECONDS).until([], look, 5, RUN_PACE) is None
    assert bell.waited == [1, 2, 2]
