"""Commits that wait for the disk together with the pass that shows them."""

import asyncio
from collections.abc import Collection, Generator
from threading import Event, get_ident

import pytest

from covey.adapters.folder.background_thread import BackgroundThread
from covey.adapters.folder.passes import DeferredCommitGate, HeldWakeups, ThreadedPasses
from covey.core.errors import Unavailable
from covey.core.names import Topic

LIMIT_S = 10.0
TOPIC, OTHER = Topic("one"), Topic("other")


class Log:
    """A log whose sync blocks until the test allows it, or fails."""

    def __init__(self) -> None:
        self.is_there = Event()
        self.is_there.set()
        self.error: Exception | None = None
        self.waits = 0
        self.is_waiting = Event()

    def sync(self) -> None:
        self.waits += 1
        self.is_waiting.set()
        assert self.is_there.wait(LIMIT_S)
        if self.error is not None:
            raise self.error


class Showing:
    """Passes that show a commit after it is confirmed."""

    def __init__(self, confirming: DeferredCommitGate) -> None:
        self._confirming = confirming
        self.shown: list[int] = []

    async def run(self, noted: Collection[int]) -> None:
        self._confirming.begin()
        try:
            self._confirming.end()
        except Unavailable:
            return
        self.shown += noted


class Stage:
    def __init__(self) -> None:
        self.rung: list[Topic] = []
        self.log = Log()
        self.rings = HeldWakeups(self.rung.extend)
        self.confirming = DeferredCommitGate(self.log.sync, self.rings, BackgroundThread("test"))
        self.showing = Showing(self.confirming)
        self.passes = ThreadedPasses(self.showing, lambda: None, self.confirming)


@pytest.fixture
def stage() -> Generator[Stage]:
    one = Stage()
    yield one
    one.log.is_there.set()


async def until_waiting(stage: Stage) -> None:
    assert await asyncio.to_thread(stage.log.is_waiting.wait, LIMIT_S)


async def test_a_commit_rings_and_is_shown_when_it_is_on_the_disk_and_not_before(stage: Stage) -> None:
    stage.log.is_there.clear()
    stage.rings.ring([TOPIC])
    async with asyncio.timeout(LIMIT_S):
        committed = asyncio.create_task(stage.passes.follow(1, is_light=False))
        await until_waiting(stage)
        stage.rings.ring([OTHER])  # belongs to a later commit
        assert (stage.rung, stage.showing.shown, committed.done()) == ([], [], False)
        stage.log.is_there.set()
        await committed
        assert (stage.rung, stage.showing.shown) == ([TOPIC], [1])
        await stage.passes.confirm(is_light=False)
        assert stage.rung == [TOPIC, OTHER]
        await stage.passes.close()


async def test_a_light_commit_rings_without_waiting(stage: Stage) -> None:
    stage.rings.ring([TOPIC, TOPIC])
    async with asyncio.timeout(LIMIT_S):
        await stage.passes.confirm(is_light=True)
        await stage.passes.follow(1, is_light=True)
        assert (stage.rung, stage.showing.shown, stage.log.waits) == ([TOPIC], [1], 0)
        await stage.passes.close()


async def test_a_commit_that_the_disk_does_not_confirm_neither_rings_nor_is_shown_and_fails(
    stage: Stage,
) -> None:
    stage.log.error = Unavailable("the disk did not confirm it")
    stage.rings.ring([TOPIC])
    async with asyncio.timeout(LIMIT_S):
        committed, looked = await asyncio.gather(
            stage.passes.follow(1, is_light=False), stage.passes.run(), return_exceptions=True
        )
        assert (committed, looked) == (stage.log.error, None)
        assert (stage.rung, stage.showing.shown) == ([], [])
        stage.log.error = None
        await stage.passes.follow(2, is_light=False)
        assert stage.showing.shown == [2]
        await stage.passes.close()


async def test_a_commit_on_another_thread_has_already_waited_and_rings_at_once(stage: Stage) -> None:
    here = get_ident()

    def commit() -> bool:
        stage.rings.ring([TOPIC])
        return get_ident() != here

    assert await asyncio.to_thread(commit)
    assert stage.rung == [TOPIC]
    await stage.passes.close()


async def test_a_commit_without_a_waiter_is_confirmed_all_the_same(stage: Stage) -> None:
    stage.rings.ring([TOPIC])
    stage.passes.begin()
    async with asyncio.timeout(LIMIT_S):
        await stage.passes.run()
        assert (stage.rung, stage.log.waits) == ([TOPIC], 1)
        await stage.passes.close()
    stage.passes.begin()
