"""Doorbells among real processes, which are killed."""

import asyncio
import gc
import os
import shutil
import sys
import threading
from collections.abc import Sequence
from pathlib import Path

import pytest

from covey.adapters.doorbell import wakeups as listener
from covey.adapters.doorbell.ringer import DoorbellRinger
from covey.adapters.doorbell.runtime_folder import space_folder, topic_name
from covey.adapters.doorbell.wakeups import DoorbellWakeups
from covey.core.errors import StoreClosed
from covey.core.names import Topic
from tests.adapters.children import LIMIT_S, child

A, B = Topic("a"), Topic("b")

LISTEN = """
import asyncio, sys
from covey.adapters.doorbell.wakeups import DoorbellWakeups

async def main():
    wakeups = DoorbellWakeups(sys.argv[1], sys.argv[2])
    async with wakeups.listen(sys.argv[3:]) as bell:
        print("listening")
        while await bell.wait(20):
            print("rung")

asyncio.run(main())
"""

RING = """
import sys
from covey.adapters.doorbell.ringer import DoorbellRinger
ringer = DoorbellRinger(sys.argv[1], sys.argv[2])
for line in sys.stdin:
    ringer.ring(line.split())
    print("rang")
"""


class Place:
    """A space's store and runtime folder."""

    def __init__(self, short: Path) -> None:
        self.store = str(short / "covey.db")
        self.runtime = str(short / "r")
        self.space = Path(space_folder(self.runtime, self.store))

    def wakeups(self) -> DoorbellWakeups:
        return DoorbellWakeups(self.store, self.runtime)

    def ringer(self) -> DoorbellRinger:
        return DoorbellRinger(self.store, self.runtime)

    def sockets(self) -> Sequence[str]:
        return sorted(path.name for path in self.space.glob("p/*"))

    def links(self, topic: str) -> Sequence[str]:
        return sorted(path.name for path in self.space.glob(f"{topic_name(topic)}/*"))


@pytest.fixture
def place(short: Path) -> Place:
    return Place(short)


async def test_a_ring_of_another_process_wakes_the_bell(place: Place) -> None:
    wakeups = place.wakeups()
    with child(RING, place.store, place.runtime) as other:
        async with wakeups.listen([A]) as bell:
            other.say("a")
            assert await bell.wait(LIMIT_S)
            assert other.line() == "rang"
            other.say("b")
            assert other.line() == "rang"
            assert not await bell.wait(0.05)
    await wakeups.close()


async def test_a_ring_wakes_another_process(place: Place) -> None:
    wakeups = place.wakeups()
    with child(LISTEN, place.store, place.runtime, "a", "b") as other:
        assert other.line() == "listening"
        wakeups.ring([A])
        assert other.line() == "rung"
        wakeups.ring([Topic("c"), B])
        assert other.line() == "rung"
    await wakeups.close()


async def test_a_process_has_one_socket_for_all_its_topics(place: Place) -> None:
    wakeups = place.wakeups()
    async with wakeups.listen([A, B]), wakeups.listen([A]), wakeups.listen([Topic(str(n)) for n in range(50)]):
        assert len(place.sockets()) == 1
        assert place.links("a") == place.links("b") == place.links("49") == place.sockets()
    await wakeups.close()
    assert list(Path(place.runtime).iterdir()) == []


async def test_only_the_bells_of_the_topic_ring(place: Place) -> None:
    wakeups = place.wakeups()
    async with wakeups.listen([A]) as a, wakeups.listen([B]) as b, wakeups.listen([A, B]) as both:
        wakeups.ring([A])
        assert await a.wait(LIMIT_S)
        assert await both.wait(LIMIT_S)
        assert not await b.wait(0)
        wakeups.ring([B])
        assert await b.wait(LIMIT_S)
        assert await both.wait(LIMIT_S)
        assert not await a.wait(0)
    await wakeups.close()


async def test_rings_between_waits_are_kept_and_several_are_one(place: Place) -> None:
    wakeups = place.wakeups()
    async with wakeups.listen([A]) as bell:
        for _ in range(5):
            wakeups.ring([A, A])
        assert await bell.wait(LIMIT_S)
        assert not await bell.wait(0.05)
    await wakeups.close()


async def test_a_ring_in_the_same_process_is_noticed_at_once(place: Place) -> None:
    wakeups = place.wakeups()
    async with wakeups.listen([A]) as bell:
        assert not await bell.wait(0)
        wakeups.ring([A])
        assert await bell.wait(0)
        assert not await bell.wait(0)
    await wakeups.close()


async def test_other_spaces_and_users_of_the_runtime_folder_hear_nothing(place: Place) -> None:
    wakeups = place.wakeups()
    stranger = DoorbellWakeups(place.store + "2", place.runtime)
    async with wakeups.listen([A]) as bell, stranger.listen([A]) as other:
        wakeups.ring([A])
        assert await bell.wait(LIMIT_S)
        assert not await other.wait(0.05)
    await wakeups.close()
    await stranger.close()


async def test_a_topic_can_be_listened_to_again(place: Place) -> None:
    wakeups = place.wakeups()
    for _ in range(3):
        async with wakeups.listen([A]) as bell:
            wakeups.ring([A])
            assert await bell.wait(LIMIT_S)
        assert len(place.links("a")) == 1  # for a while, because the next bell is likely to come soon
        assert len(place.sockets()) == 1
    await wakeups.close()
    assert place.links("a") == []


async def test_a_topic_without_bells_is_forgotten_after_a_while(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(listener, "LINGER_S", 0.0)
    wakeups = place.wakeups()
    async with wakeups.listen([A]):
        assert len(place.links("a")) == 1
    async with asyncio.timeout(LIMIT_S):
        while place.links("a"):  # noqa: ASYNC110 - the timer runs on this loop
            await asyncio.sleep(0)
    await wakeups.close()


def test_event_loops_may_follow_one_another(place: Place) -> None:
    wakeups = place.wakeups()

    async def hear() -> None:
        async with wakeups.listen([A]) as bell:
            wakeups.ring([A])
            assert await bell.wait(LIMIT_S)

    asyncio.run(hear())
    asyncio.run(hear())

    async def hear_and_close() -> None:
        await hear()
        await wakeups.close()

    asyncio.run(hear_and_close())
    assert place.sockets() == []


def test_a_loop_that_was_closed_with_bells_on_it_does_not_disturb_the_next_loop(place: Place) -> None:
    wakeups = place.wakeups()
    lost = asyncio.new_event_loop()
    listening = wakeups.listen([A])
    lost.run_until_complete(listening.__aenter__())
    lost.close()

    async def hear() -> None:
        async with wakeups.listen([A]) as bell:
            assert len(place.sockets()) == 1
            wakeups.ring([A])
            assert await bell.wait(LIMIT_S)
        await wakeups.close()

    asyncio.run(hear())
    del listening
    gc.collect()


def test_event_loops_in_several_threads_hear_at_once(place: Place) -> None:
    wakeups = place.wakeups()
    ready = threading.Barrier(3)
    heard: list[bool] = []

    async def hear() -> None:
        for _ in range(20):
            async with wakeups.listen([A]) as bell:
                await asyncio.to_thread(ready.wait, LIMIT_S)
                heard.append(await bell.wait(LIMIT_S))
                await asyncio.to_thread(ready.wait, LIMIT_S)

    threads = [threading.Thread(target=asyncio.run, args=(hear(),)) for _ in range(2)]
    for thread in threads:
        thread.start()
    for _ in range(20):
        ready.wait(LIMIT_S)
        wakeups.ring([A])
        ready.wait(LIMIT_S)
    for thread in threads:
        thread.join(LIMIT_S)
    assert heard == [True] * 40
    asyncio.run(wakeups.close())
    assert place.sockets() == []


async def test_rings_from_many_threads_reach_the_bell(place: Place) -> None:
    wakeups = place.wakeups()

    def ring() -> None:
        for _ in range(200):
            wakeups.ring([A, B])

    async with wakeups.listen([A]) as a, wakeups.listen([B]) as b:
        threads = [threading.Thread(target=ring) for _ in range(4)]
        for thread in threads:
            thread.start()
        assert await a.wait(LIMIT_S)
        assert await b.wait(LIMIT_S)
        for thread in threads:
            await asyncio.to_thread(thread.join, LIMIT_S)
    await wakeups.close()


async def test_a_full_socket_still_wakes_every_topic(place: Place) -> None:
    """A ring that does not fit into the socket is lost. Therefore the reader rings all its bells."""
    wakeups = place.wakeups()
    async with wakeups.listen([A]) as a, wakeups.listen([B]) as b:
        for _ in range(2000):
            wakeups.ring([A])
        wakeups.ring([B])
        assert await b.wait(LIMIT_S)
        assert await a.wait(LIMIT_S)
    await wakeups.close()


async def test_processes_that_do_not_read_do_not_block_other_listeners(place: Place) -> None:
    """A sender's buffer for unread rings is limited; forty sockets that are never read exceed it."""
    deaf = [place.wakeups() for _ in range(40)]
    bells = [wakeups.listen([A]) for wakeups in deaf]
    loop = asyncio.new_event_loop()
    for bell in bells:
        await asyncio.to_thread(loop.run_until_complete, bell.__aenter__())
    ringer = place.ringer()
    for _ in range(20):
        ringer.ring([A])
    wakeups = place.wakeups()
    async with wakeups.listen([B]) as bell:
        ringer.ring([B])
        assert await bell.wait(LIMIT_S)
    for bell in bells:
        await asyncio.to_thread(loop.run_until_complete, bell.__aexit__(None, None, None))
    for closing in (*deaf, wakeups):
        await closing.close()
    loop.close()
    ringer.close()


async def test_a_killed_listener_is_removed_by_the_next_ringer(place: Place) -> None:
    with child(LISTEN, place.store, place.runtime, "a", "b") as other:
        assert other.line() == "listening"
        other.kill()
    assert len(place.links("a")) == 1
    ringer = place.ringer()
    ringer.ring([A])
    ringer.close()
    assert not (place.space / topic_name("a")).exists()
    assert len(place.links("b")) == 1, "nobody rang it"


async def test_a_killed_listener_is_removed_by_the_next_listener(place: Place) -> None:
    with child(LISTEN, place.store, place.runtime, "a", "b") as dead:
        assert dead.line() == "listening"
        dead.kill()
    with child(LISTEN, place.store, place.runtime, "b") as live:
        assert live.line() == "listening"
        wakeups = place.wakeups()
        async with wakeups.listen([A]) as bell:
            assert len(place.sockets()) == 2
            assert len(place.links("a")) == 1
            assert len(place.links("b")) == 1
            wakeups.ring([A, B])
            assert live.line() == "rung"
            assert await bell.wait(LIMIT_S)
        await wakeups.close()


def test_a_socket_that_is_being_made_is_left_alone_unless_it_is_old(place: Place) -> None:
    (place.space / "p").mkdir(parents=True)
    Path(place.runtime).chmod(0o700)
    for name in (".young", ".old"):
        (place.space / "p" / name).touch()
    os.utime(place.space / "p" / ".old", (1, 1))

    async def hear() -> None:
        async with place.wakeups().listen([A]):
            pass

    asyncio.run(hear())
    assert {path.name for path in (place.space / "p").iterdir()} >= {".young"}
    assert not (place.space / "p" / ".old").exists()


def test_a_process_that_ends_without_closing_leaves_nothing(place: Place) -> None:
    program = """
import asyncio, sys
from covey.adapters.doorbell.wakeups import DoorbellWakeups
wakeups = DoorbellWakeups(sys.argv[1], sys.argv[2])
loop = asyncio.new_event_loop()
bell = wakeups.listen(["a"])
loop.run_until_complete(bell.__aenter__())
print("listening")
sys.stdin.readline()
"""
    with child(program, place.store, place.runtime) as other:
        assert other.line() == "listening"
        assert len(place.links("a")) == 1
        assert other.end() == 0
    assert list(Path(place.runtime).iterdir()) == []


def test_a_forked_child_has_its_own_socket_and_leaves_that_of_its_parent(place: Place) -> None:
    wakeups = place.wakeups()

    async def hear_in_child() -> bool:
        async with wakeups.listen([A]) as bell:
            both = len(place.links("a")) == 2
            wakeups.ring([A])
            heard = await bell.wait(LIMIT_S)
        await wakeups.close()
        return both and heard

    loop = asyncio.new_event_loop()
    listening = wakeups.listen([A])
    bell = loop.run_until_complete(listening.__aenter__())
    pid = os.fork()
    if pid == 0:
        code = 2
        try:
            code = 0 if asyncio.run(hear_in_child()) else 1
        finally:
            os._exit(code)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
    assert loop.run_until_complete(bell.wait(LIMIT_S)), "the child rang for both"
    wakeups.ring([A])
    assert loop.run_until_complete(bell.wait(LIMIT_S)), "and left the parent's socket alone"
    loop.run_until_complete(listening.__aexit__(None, None, None))
    loop.run_until_complete(wakeups.close())
    loop.close()
    assert place.sockets() == []


async def test_listeners_come_and_go_at_once_without_losing_a_ring(place: Place) -> None:
    """The last listener that leaves removes the topic's folder, while another one arrives."""
    program = """
import asyncio, sys
from covey.adapters.doorbell.wakeups import DoorbellWakeups

async def main():
    for _ in range(30):
        wakeups = DoorbellWakeups(sys.argv[1], sys.argv[2])
        for _ in range(10):
            async with wakeups.listen(["a"]) as bell:
                wakeups.ring(["a"])
                assert await bell.wait(20)
        await wakeups.close()
    print("done")

asyncio.run(main())
"""
    with (
        child(program, place.store, place.runtime) as first,
        child(program, place.store, place.runtime) as second,
        child(program, place.store, place.runtime) as third,
    ):
        for other in (first, second, third):
            assert other.line() == "done"
    assert list(Path(place.runtime).iterdir()) == []


async def test_a_bell_hears_again_after_its_files_were_cleaned_away(place: Place) -> None:
    wakeups = place.wakeups()
    async with wakeups.listen([A]) as a, wakeups.listen([B]) as b:
        (link,) = (place.space / topic_name("a")).iterdir()
        link.unlink()
        assert not await a.wait(0)
        wakeups.ring([A])
        assert await a.wait(LIMIT_S)
        for gone in (place.space, Path(place.runtime)):
            shutil.rmtree(gone)
            assert not await a.wait(0)
            wakeups.ring([A, B])
            assert await a.wait(LIMIT_S)
            assert await b.wait(LIMIT_S)
        shutil.rmtree(place.space)
        async with wakeups.listen([Topic("c")]) as c:
            wakeups.ring([B, Topic("c")])
            assert await c.wait(LIMIT_S)
            assert await b.wait(LIMIT_S)
    await wakeups.close()
    assert list(Path(place.runtime).iterdir()) == []


async def test_after_close_nothing_rings_and_waits_end_at_their_timeouts(place: Place) -> None:
    wakeups, other = place.wakeups(), place.wakeups()
    async with wakeups.listen([A]) as bell:
        waiting = asyncio.create_task(bell.wait(0.1))
        await asyncio.sleep(0)
        await wakeups.close()
        await wakeups.close()
        other.ring([A])
        assert not await waiting
        assert not await bell.wait(0)
        assert list(Path(place.runtime).iterdir()) == []
    wakeups.ring([A])
    with pytest.raises(StoreClosed):
        async with wakeups.listen([A]):
            pass
    await other.close()


def test_ringing_needs_no_event_loop_and_few_imports(place: Place) -> None:
    program = """
import sys
from covey.adapters.doorbell.runtime_folder import runtime_folder
from covey.adapters.doorbell.ringer import DoorbellRinger
DoorbellRinger(sys.argv[1], sys.argv[2]).ring(["a"])
heavy = {"asyncio", "dataclasses", "hashlib", "inspect", "logging", "msgspec", "pathlib", "socket", "threading"}
print(sorted(heavy & set(sys.modules)))
"""
    with child(LISTEN, place.store, place.runtime, "a") as listener:
        assert listener.line() == "listening"
        with child(program, place.store, place.runtime) as other:
            assert other.line() == "[]"
        assert listener.line() == "rung"


async def test_the_cost_of_a_ring_does_not_grow_with_unrelated_topics(place: Place) -> None:
    wakeups = place.wakeups()

    def cost(topic: Topic) -> int:
        """Count the calls that a ring makes."""
        calls = 0

        def count(frame: object, event: str, argument: object) -> None:
            nonlocal calls
            calls += event in ("call", "c_call")

        wakeups.ring([topic])
        sys.setprofile(count)
        try:
            wakeups.ring([topic])
        finally:
            sys.setprofile(None)
        return calls

    alone = cost(A)
    async with wakeups.listen([Topic(f"session:{n}") for n in range(1000)]):
        assert cost(A) < 5 * alone
    await wakeups.close()


async def test_in_its_own_process_a_ring_needs_no_socket(place: Place) -> None:
    wakeups = place.wakeups()
    async with wakeups.listen([A]) as bell:
        (socket,) = place.sockets()
        (place.space / "p" / socket).unlink()
        wakeups.ring([A])
        assert await bell.wait(0)
        await asyncio.to_thread(wakeups.ring, [A])
        assert await bell.wait(LIMIT_S)
        assert not await bell.wait(0)
    await wakeups.close()
