"""Contract of wake-ups."""

import asyncio
import time

from covey.core.ids import Topic
from covey.ports.wakeups import Bell
from covey.testing.opening import OpenWakeups

A, B, C = Topic("session:a"), Topic("agent:b"), Topic("message:1-c")

SOON = 10.0
"""The limit of a wait for a wake-up, in seconds; a test that passes never waits so long."""
NEVER = 0.05
"""The seconds that a test listens for a ring that must not come."""


async def rings(bell: Bell) -> bool:
    """Tell whether the bell rings within `SOON` seconds."""
    return await bell.wait(SOON)


async def is_silent(bell: Bell) -> bool:
    """Tell whether the bell stays silent for `NEVER` seconds."""
    return not await bell.wait(NEVER)


class WakeupsContract:
    """Fixture: `open_wakeups`."""

    async def test_a_ring_wakes_who_waits(self, open_wakeups: OpenWakeups) -> None:
        async with open_wakeups() as wakeups, wakeups.listen([A]) as bell:
            waiting = asyncio.create_task(rings(bell))
            await asyncio.sleep(0)
            wakeups.ring([A])
            assert await waiting

    async def test_any_of_the_topics_wakes(self, open_wakeups: OpenWakeups) -> None:
        async with open_wakeups() as wakeups, wakeups.listen([A, B]) as bell:
            wakeups.ring([A])
            assert await rings(bell)
            wakeups.ring([B, C])
            assert await rings(bell)

    async def test_every_bell_on_a_topic_hears_it(self, open_wakeups: OpenWakeups) -> None:
        async with open_wakeups() as wakeups, wakeups.listen([A]) as one, wakeups.listen([A, B]) as two:
            wakeups.ring([A])
            assert await rings(one)
            assert await rings(two)

    async def test_nobody_else_is_woken(self, open_wakeups: OpenWakeups) -> None:
        async with open_wakeups() as wakeups, wakeups.listen([A]) as bell:
            wakeups.ring([B, Topic(A + "x"), Topic("session:")])
            assert await is_silent(bell)

    async def test_a_ring_between_two_waits_is_kept(self, open_wakeups: OpenWakeups) -> None:
        async with open_wakeups() as wakeups, wakeups.listen([A]) as bell:
            wakeups.ring([A])
            assert await rings(bell)
            wakeups.ring([A])
            assert await rings(bell)

    async def test_several_rings_are_one(self, open_wakeups: OpenWakeups) -> None:
        async with open_wakeups() as wakeups, wakeups.listen([A, B]) as bell:
            for _ in range(1000):
                wakeups.ring([A, B])
            assert await rings(bell)
            assert await is_silent(bell)

    async def test_a_wait_that_runs_out_says_so_and_not_early(self, open_wakeups: OpenWakeups) -> None:
        async with open_wakeups() as wakeups, wakeups.listen([A]) as bell:
            began = time.monotonic()
            assert not await bell.wait(0.1)
            assert time.monotonic() - began >= 0.09

    async def test_a_wait_of_no_time_tells_whether_it_rang(self, open_wakeups: OpenWakeups) -> None:
        async with open_wakeups() as wakeups, wakeups.listen([A]) as bell:
            async with asyncio.timeout(SOON):
                assert not await bell.wait(0)

    async def test_a_bell_that_ran_out_can_ring_later(self, open_wakeups: OpenWakeups) -> None:
        async with open_wakeups() as wakeups, wakeups.listen([A]) as bell:
            assert await is_silent(bell)
            wakeups.ring([A])
            assert await rings(bell)

    async def test_a_wait_that_is_cancelled_leaves_the_bell_as_it_was(self, open_wakeups: OpenWakeups) -> None:
        async with open_wakeups() as wakeups, wakeups.listen([A]) as bell:
            waiting = asyncio.create_task(bell.wait(SOON))
            await asyncio.sleep(0)
            waiting.cancel()
            await asyncio.wait([waiting])
            wakeups.ring([A])
            assert await rings(bell)

    async def test_a_bell_hears_nothing_from_before_it_was_entered(self, open_wakeups: OpenWakeups) -> None:
        async with open_wakeups() as wakeups:
            listening = wakeups.listen([A])
            wakeups.ring([A])
            async with listening as bell:
                assert await is_silent(bell)

    async def test_a_bell_that_was_left_disturbs_nobody(self, open_wakeups: OpenWakeups) -> None:
        async with open_wakeups() as wakeups:
            async with wakeups.listen([A]):
                pass
            async with wakeups.listen([A]) as bell:
                wakeups.ring([A])
                assert await rings(bell)

    async def test_ringing_where_nobody_listens_is_no_failure(self, open_wakeups: OpenWakeups) -> None:
        async with open_wakeups() as wakeups:
            wakeups.ring([])
            wakeups.ring([A, Topic("…/../\u0000 any text")])

    async def test_another_thread_may_ring(self, open_wakeups: OpenWakeups) -> None:
        async with open_wakeups() as wakeups, wakeups.listen([A]) as bell:
            waiting = asyncio.create_task(rings(bell))
            await asyncio.to_thread(wakeups.ring, [A])
            assert await waiting

    async def test_after_closing_bells_run_into_their_timeouts(self, open_wakeups: OpenWakeups) -> None:
        async with open_wakeups() as wakeups, wakeups.listen([A]) as bell:
            waiting = asyncio.create_task(is_silent(bell))
            await asyncio.sleep(0)
            await wakeups.close()
            assert await waiting
            wakeups.ring([A])
            assert await is_silent(bell)
