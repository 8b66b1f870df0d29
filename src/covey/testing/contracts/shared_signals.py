"""Contracts of wake-ups and liveness between real processes."""

import asyncio
from contextlib import closing
from typing import cast

from covey.core.directory.session import Holder
from covey.core.ids import Topic
from covey.testing.contracts.wakeups import NEVER, rings
from covey.testing.opening import Locator
from covey.testing.workers import Worker, started

TOPIC = Topic("session:shared")


class SharedWakeupsContract:
    """Fixture: `wakeups_locator`."""

    async def test_a_ring_of_another_process_wakes(self, wakeups_locator: Locator) -> None:
        async with wakeups_locator.wakeups() as wakeups, wakeups.listen([TOPIC]) as bell:
            waiting = asyncio.create_task(rings(bell))
            with started(Worker("ring", wakeups_locator, TOPIC)) as (ringer,):
                assert await waiting
                ringer.finish()

    async def test_another_process_does_not_wake_who_listens_to_something_else(self, wakeups_locator: Locator) -> None:
        async with wakeups_locator.wakeups() as wakeups, wakeups.listen([TOPIC]) as bell:
            with started(Worker("ring", wakeups_locator, "session:other")) as (ringer,):
                ringer.finish()
            assert not await bell.wait(NEVER)

    async def test_every_process_that_listens_is_woken(self, wakeups_locator: Locator) -> None:
        async with wakeups_locator.wakeups() as wakeups:
            with started(*(Worker("listen", wakeups_locator, TOPIC) for _ in range(3))) as listeners:
                assert [listener.next_result() for listener in listeners] == ["listening"] * 3
                wakeups.ring([TOPIC])
                assert [listener.next_result() for listener in listeners] == ["heard"] * 3

    async def test_a_listener_that_was_killed_disturbs_nobody(self, wakeups_locator: Locator) -> None:
        async with wakeups_locator.wakeups() as wakeups:
            with started(Worker("listen", wakeups_locator, TOPIC)) as (listener,):
                assert listener.next_result() == "listening"
                listener.kill()
            async with wakeups.listen([TOPIC]) as bell:
                for _ in range(3):
                    wakeups.ring([TOPIC])
                    assert await rings(bell)

    async def test_a_listener_that_is_stopped_holds_nobody_up(self, wakeups_locator: Locator) -> None:
        async with wakeups_locator.wakeups() as wakeups:
            with started(Worker("listen", wakeups_locator, TOPIC)) as (listener,):
                assert listener.next_result() == "listening"
                listener.stop()
                async with wakeups.listen([TOPIC]) as bell:
                    for _ in range(5000):
                        wakeups.ring([TOPIC])
                    assert await rings(bell)


class SharedLivenessContract:
    """Fixture: `liveness_locator`."""

    def test_what_a_process_holds_is_held_until_it_is_killed(self, liveness_locator: Locator) -> None:
        liveness = liveness_locator.liveness()
        with closing(liveness), started(Worker("hold", liveness_locator)) as (worker,):
            holder = held_by(worker)
            assert liveness.is_held(holder)
            worker.kill()
            assert not liveness.is_held(holder)

    def test_the_death_of_one_process_is_not_that_of_another(self, liveness_locator: Locator) -> None:
        liveness = liveness_locator.liveness()
        with closing(liveness), started(*(Worker("hold", liveness_locator) for _ in range(3))) as workers:
            holders = [held_by(worker) for worker in workers]
            assert len(set(holders)) == 3
            workers[0].kill()
            assert [liveness.is_held(holder) for holder in holders] == [False, True, True]

    def test_a_process_that_is_stopped_still_holds(self, liveness_locator: Locator) -> None:
        liveness = liveness_locator.liveness()
        with closing(liveness), started(Worker("hold", liveness_locator)) as (worker,):
            holder = held_by(worker)
            worker.stop()
            assert liveness.is_held(holder)


def held_by(worker: Worker) -> Holder:
    """Return the holder that a worker reports."""
    return Holder(*cast(tuple[str | None, int | None, str | None], worker.next_result()))
