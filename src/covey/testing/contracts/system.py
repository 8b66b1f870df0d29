"""Contracts of the ports to the system: the clock, ids, the liveness of processes, and wake-ups."""

import asyncio
import subprocess
import sys
import time
from collections.abc import Callable, Generator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing, contextmanager
from datetime import timedelta
from typing import NamedTuple

import pytest

from covey.core.directory.session import Holder
from covey.core.names import Topic, parse_message_id, parse_offer_id, parse_session_id
from covey.ports.clock import Bell, Clock, Ids
from covey.testing.factories import OpenLiveness, OpenWakeups
from covey.testing.records import START, at


class ClockContract:
    """Fixture: `clock`."""

    def test_the_time_is_in_utc(self, clock: Clock) -> None:
        assert clock.now().utcoffset() == timedelta(0)

    def test_monotonic_seconds_never_shrink(self, clock: Clock) -> None:
        seconds = [clock.monotonic() for _ in range(1000)]
        assert seconds == sorted(seconds)


class IdsContract:
    """Fixture: `ids`."""

    def test_a_message_id_is_the_milliseconds_and_a_uuid(self, ids: Ids) -> None:
        now = at(12.345)
        message_id = parse_message_id(ids.message_id(now))
        milliseconds, _, uuid = message_id.partition("-")
        assert int(milliseconds) == int(START.timestamp()) * 1000 + 12_345
        assert parse_session_id(uuid) == uuid

    def test_message_ids_sort_by_time(self, ids: Ids) -> None:
        made = [ids.message_id(at(milliseconds / 1000)) for milliseconds in range(2000)]
        assert made == sorted(made)

    def test_session_and_offer_ids_are_uuids(self, ids: Ids) -> None:
        session_id, offer_id = ids.session_id(), ids.offer_id()
        assert parse_session_id(session_id) == session_id
        assert parse_offer_id(offer_id) == offer_id

    def test_secrets_differ(self, ids: Ids) -> None:
        assert len({ids.secret() for _ in range(1000)}) == 1000
        assert all(len(ids.secret()) >= 16 for _ in range(10))

    def test_parallel_makers_never_make_the_same_id(self, ids: Ids) -> None:
        def make(_worker: int) -> list[str]:
            return [
                make() for _ in range(500) for make in (lambda: ids.message_id(START), ids.session_id, ids.offer_id)
            ]

        with ThreadPoolExecutor(8) as pool:
            made = [made for batch in pool.map(make, range(8)) for made in batch]
        assert len(set(made)) == len(made) == 8 * 500 * 3


class StartedProcess(NamedTuple):
    pid: int
    end: Callable[[], None]
    """Kill the process, and return when it is gone."""


StartProcess = Callable[[], StartedProcess]


@contextmanager
def real_process() -> Generator[StartedProcess]:
    """Start a process that runs until it is ended."""
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as process:

        def end() -> None:
            process.kill()
            process.wait(10)

        try:
            yield StartedProcess(process.pid, end)
        finally:
            end()


class LivenessContract:
    """Fixture: `open_liveness`; each call stands for another process of the same machine and space."""

    @pytest.fixture
    def start_process(self) -> Generator[StartProcess]:
        """Yield a function that starts a real process. An adapter without real processes overrides this fixture."""
        with ExitStack() as stack:
            yield lambda: stack.enter_context(real_process())

    def test_what_a_process_holds_is_the_same_each_time(self, open_liveness: OpenLiveness) -> None:
        with closing(open_liveness()) as liveness:
            assert liveness.hold() == liveness.hold()

    def test_what_is_held_is_seen_by_all(self, open_liveness: OpenLiveness) -> None:
        with closing(open_liveness()) as mine, closing(open_liveness()) as others:
            assert mine.is_held(mine.hold())
            assert others.is_held(mine.hold())

    def test_two_processes_hold_different_things(self, open_liveness: OpenLiveness) -> None:
        with closing(open_liveness()) as one, closing(open_liveness()) as two:
            assert one.hold() != two.hold()
            assert one.is_held(two.hold())

    def test_asking_does_not_take_what_is_asked_about(self, open_liveness: OpenLiveness) -> None:
        with closing(open_liveness()) as mine, closing(open_liveness()) as others:
            holder = mine.hold()
            assert [others.is_held(holder) for _ in range(3)] == [True] * 3
            mine.close()
            assert [others.is_held(holder) for _ in range(3)] == [False] * 3

    def test_closing_lets_go(self, open_liveness: OpenLiveness) -> None:
        with closing(open_liveness()) as mine, closing(open_liveness()) as others:
            kept, left = others.hold(), mine.hold()
            mine.close()
            assert not others.is_held(left)
            assert others.is_held(kept)

    def test_closing_twice_or_without_holding_is_no_failure(self, open_liveness: OpenLiveness) -> None:
        liveness = open_liveness()
        liveness.close()
        liveness.close()

    @pytest.mark.parametrize("holder", [Holder(), Holder(lock="no-such-lock"), Holder(pid=1, started="never")])
    def test_what_nobody_holds_is_not_held(self, open_liveness: OpenLiveness, holder: Holder) -> None:
        with closing(open_liveness()) as liveness:
            assert not liveness.is_held(holder)

    def test_a_running_process_is_held(self, open_liveness: OpenLiveness, start_process: StartProcess) -> None:
        process = start_process()
        with closing(open_liveness()) as one, closing(open_liveness()) as two:
            holder = one.process(process.pid)
            assert holder is not None
            assert holder.pid == process.pid
            assert holder == two.process(process.pid)
            assert two.is_held(holder)

    def test_a_process_that_is_gone_is_not_held(self, open_liveness: OpenLiveness, start_process: StartProcess) -> None:
        process = start_process()
        with closing(open_liveness()) as liveness:
            holder = liveness.process(process.pid)
            assert holder is not None
            process.end()
            assert not liveness.is_held(holder)
            assert liveness.process(process.pid) is None

    def test_another_process_with_the_same_id_is_not_the_same(
        self, open_liveness: OpenLiveness, start_process: StartProcess
    ) -> None:
        process = start_process()
        with closing(open_liveness()) as liveness:
            holder = liveness.process(process.pid)
            assert holder is not None
            assert not liveness.is_held(holder._replace(started=f"{holder.started}0"))

    def test_the_processes_that_one_descends_from_are_held(self, open_liveness: OpenLiveness) -> None:
        with closing(open_liveness()) as one, closing(open_liveness()) as two:
            holders = [ancestor.holder for ancestor in one.ancestors()]
            assert all(two.is_held(holder) for holder in holders)
            assert len(set(holders)) == len(holders)

    @pytest.mark.parametrize("pid", [0, -1, 2**31 - 1, 10**12])
    def test_there_is_no_process_of_such_an_id(self, open_liveness: OpenLiveness, pid: int) -> None:
        with closing(open_liveness()) as liveness:
            assert liveness.process(pid) is None
            assert not liveness.is_held(Holder(pid=pid, started="1"))


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
