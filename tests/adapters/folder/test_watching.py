"""Watching: foreign changes wake all waiters, by the kernel or by polling, and no task is left afterwards."""

import asyncio
import errno
from collections.abc import AsyncGenerator, Callable, Collection
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from covey.adapters.folder.scan import watch
from covey.adapters.folder.scan import watch as inotify
from covey.adapters.folder.wakeups import WatchingWakeups
from covey.adapters.memory import MemoryWakeups
from covey.core.errors import Unavailable
from covey.core.formats.layout import Layout, Shelf
from covey.core.names import Topic
from covey.ports.folder import Visit
from tests.adapters.folder.desk import ALL, Desk, content, note

LIMIT_S = 10.0
TOPIC = Topic("session:1")


@pytest.fixture(params=["inotify", "poll"])
def means(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Both ways of watching: by inotify, and by polling if inotify is not available."""
    if request.param == "poll":

        def refuse() -> inotify.Inotify:
            raise OSError(errno.EMFILE, "too many")

        monkeypatch.setattr(watch, "Inotify", refuse)
        monkeypatch.setattr(watch, "POLL_S", 0.02)
    return request.param


@pytest.fixture
def quiet(monkeypatch: pytest.MonkeyPatch) -> None:
    """Switch off the periodic wake-ups, so that only changes wake."""
    monkeypatch.setattr(watch, "BEAT_S", 1000.0)


def in_inbox(desk: Desk) -> None:
    desk.put(desk.spot(5), content(5))


def in_a_new_inbox(desk: Desk) -> None:
    desk.put(desk.spot(5, owner="newcomer"), content(5))


def moved_on(desk: Desk) -> None:
    desk.move(desk.spot(1), desk.spot(1, Shelf.ARCHIVE))


def gone(desk: Desk) -> None:
    desk.path(desk.spot(1)).unlink()


def written_in_place(desk: Desk) -> None:
    path = desk.path(desk.spot(6))
    with path.open("wb") as file:
        file.write(content(6))


@pytest.mark.parametrize("act", [in_inbox, in_a_new_inbox, moved_on, gone, written_in_place])
async def test_a_change_wakes_the_watcher(desk: Desk, means: str, quiet: None, act: Callable[[Desk], None]) -> None:
    desk.bring(desk.sheet(1))
    desk.settle()
    async with asyncio.timeout(LIMIT_S), desk.folder.changes() as changes:
        await anext(changes)  # the first one is immediate
        waiting = asyncio.ensure_future(anext(changes))
        await asyncio.sleep(0)
        assert not waiting.done()
        act(desk)
        await waiting
        assert desk.folder.has_news()


async def test_a_file_in_a_new_folder_is_noticed_even_if_it_follows_at_once(
    desk: Desk, quiet: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(watch, "RECHECK_S", 1000.0)
    desk.settle()
    async with asyncio.timeout(LIMIT_S), desk.folder.changes() as changes:
        await anext(changes)
        for n in range(20):
            owner = f"newcomer{n}"
            desk.put(desk.spot(n, owner=owner), content(n))
            seen: list[str] = []
            while not seen:
                await anext(changes)
                seen = [arrived.spot.owner for arrived in desk.take_in().arrived]
            assert seen == [owner]


async def test_the_watcher_wakes_periodically_without_a_change(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watch, "BEAT_S", 0.02)
    monkeypatch.setattr(watch, "RECHECK_S", 0.01)
    desk.settle()
    async with asyncio.timeout(LIMIT_S), desk.folder.changes() as changes:
        for _ in range(3):
            await anext(changes)


async def test_a_change_without_a_kernel_event_is_found_by_polling(
    desk: Desk, quiet: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A kernel sends no events for the changes that other machines make in a shared folder."""
    monkeypatch.setattr(watch, "RECHECK_S", 0.02)

    def deaf(_: inotify.Inotify) -> inotify.WatchedChange:
        return inotify.WatchedChange(is_change=False, is_rebuilt=False)

    monkeypatch.setattr(inotify.Inotify, "read", deaf)
    desk.settle()
    async with asyncio.timeout(LIMIT_S), desk.folder.changes() as changes:
        await anext(changes)
        in_inbox(desk)
        await anext(changes)


async def test_temporary_files_cause_no_wake_up(dialogue: Desk, quiet: None) -> None:
    dialogue.bring(dialogue.sheet(1))
    dialogue.settle()
    kernel = inotify.Inotify()
    folder = dialogue.path(dialogue.spot(1)).parent
    kernel.watch([str(folder)])
    (folder / ".covey-1.tmp").write_bytes(b"x")
    assert kernel.read() == inotify.WatchedChange(is_change=False, is_rebuilt=False)
    (folder / "x.json").write_bytes(b"x")
    assert kernel.read() == inotify.WatchedChange(is_change=True, is_rebuilt=False)
    (folder / "sub").mkdir()
    assert kernel.read() == inotify.WatchedChange(is_change=True, is_rebuilt=True)
    kernel.close()


async def test_links_are_not_watched(tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (tmp_path / "link").symlink_to(elsewhere)
    kernel = inotify.Inotify()
    kernel.watch([str(tmp_path / "link"), str(tmp_path / "nothing")])
    (elsewhere / "x.json").write_bytes(b"x")
    assert not kernel.read().is_change
    kernel.close()


async def test_if_kernel_watches_run_out_the_folder_is_polled(
    desk: Desk, quiet: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(_: inotify.Inotify, folders: object) -> None:
        raise OSError(errno.ENOSPC, "no more watches")

    monkeypatch.setattr(inotify.Inotify, "watch", refuse)
    monkeypatch.setattr(watch, "POLL_S", 0.02)
    desk.settle()
    async with asyncio.timeout(LIMIT_S), desk.folder.changes() as changes:
        await anext(changes)
        in_inbox(desk)
        await anext(changes)


# Wake-ups on top of the watch.


class Space:
    """A space that takes in arrived files and rings for them."""

    def __init__(self, desk: Desk) -> None:
        self.desk = desk
        self.inner = MemoryWakeups()
        self.wakeups = WatchingWakeups(self.inner, desk.folder, self.reconcile)
        self.passes = 0
        self._turn = asyncio.Condition()
        self.seen: list[str] = []
        self.error: Exception | None = None

    async def passed(self, count: int) -> None:
        """Wait until `count` passes have begun."""
        async with self._turn:
            await self._turn.wait_for(lambda: self.passes >= count)

    async def reconcile(self) -> None:
        async with self._turn:
            self.passes += 1
            self._turn.notify_all()
        if self.error is not None:
            raise self.error

        async def take(visit: Visit) -> Collection[str]:
            sighting = await visit.look(ALL)
            await note(visit, sighting)
            return [arrived.spot.name for arrived in sighting.arrived]

        if new := self.desk.during(take):
            self.seen += new
            self.wakeups.ring([TOPIC])


@asynccontextmanager
async def space(desk: Desk) -> AsyncGenerator[Space]:
    one = Space(desk)
    yield one
    await one.wakeups.close()


async def test_a_foreign_file_wakes_a_waiter(desk: Desk, means: str) -> None:
    desk.settle()
    async with asyncio.timeout(LIMIT_S), space(desk) as one, one.wakeups.listen([TOPIC]) as bell:
        waiting = asyncio.ensure_future(bell.wait(LIMIT_S))
        await asyncio.sleep(0.01)
        in_inbox(desk)
        assert await waiting
        assert one.seen == [desk.spot(5).name]


async def test_a_file_that_arrived_before_the_wait_is_taken_in_at_once(desk: Desk, means: str) -> None:
    in_inbox(desk)
    async with asyncio.timeout(LIMIT_S), space(desk) as one, one.wakeups.listen([TOPIC]) as bell:
        assert await bell.wait(LIMIT_S)


async def test_rings_are_passed_on(desk: Desk) -> None:
    async with asyncio.timeout(LIMIT_S), space(desk) as one, one.wakeups.listen([TOPIC]) as bell:
        one.wakeups.ring([TOPIC])
        assert await bell.wait(LIMIT_S)


async def test_several_waiters_share_one_watch_and_the_last_one_ends_it(desk: Desk) -> None:
    desk.settle()
    async with asyncio.timeout(LIMIT_S), space(desk) as one:
        before = len(asyncio.all_tasks())
        async with one.wakeups.listen([TOPIC]) as first:
            async with one.wakeups.listen([TOPIC]) as second:
                await asyncio.sleep(0)
                assert len(asyncio.all_tasks()) == before + 1
                in_inbox(desk)
                assert await first.wait(LIMIT_S)
                assert await second.wait(LIMIT_S)
            assert len(asyncio.all_tasks()) == before + 1
        assert len(asyncio.all_tasks()) == before
        passes = one.passes
        desk.put(desk.spot(7), content(7))
        await asyncio.sleep(0.05)
        assert one.passes == passes


async def test_a_pass_that_is_unavailable_is_retried(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watch, "RECHECK_S", 0.01)
    async with asyncio.timeout(LIMIT_S), space(desk) as one:
        one.error = Unavailable("not now")
        async with one.wakeups.listen([TOPIC]) as bell:
            in_inbox(desk)
            await one.passed(3)
            one.error = None
            assert await bell.wait(LIMIT_S)


async def test_a_programming_error_in_a_pass_is_raised(desk: Desk) -> None:
    async with asyncio.timeout(LIMIT_S), space(desk) as one:
        one.error = ZeroDivisionError("a mistake")

        async def wait() -> None:
            async with one.wakeups.listen([TOPIC]):
                await one.passed(1)

        with pytest.raises(ZeroDivisionError):
            await wait()


async def test_a_waiter_can_be_cancelled(desk: Desk) -> None:
    async with asyncio.timeout(LIMIT_S), space(desk) as one:

        async def wait() -> None:
            async with one.wakeups.listen([TOPIC]) as bell:
                await bell.wait(LIMIT_S)

        before = len(asyncio.all_tasks())
        tasks = [asyncio.create_task(wait()) for _ in range(5)]
        await asyncio.sleep(0.02)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        assert len(asyncio.all_tasks()) == before


def test_a_waiter_is_woken_by_the_kernel_and_not_by_a_poll(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watch, "POLL_S", 3600.0)
    monkeypatch.setattr(watch, "RECHECK_S", 3600.0)
    desk = Desk(tmp_path / "shared", Layout.DIALOGUE)
    desk.bring(desk.sheet(1))
    desk.settle()

    async def wait() -> None:
        async with asyncio.timeout(LIMIT_S), space(desk) as one, one.wakeups.listen([TOPIC]) as bell:
            for n in range(20):
                desk.put(desk.spot(100 + n), content(100 + n))
                assert await bell.wait(LIMIT_S)

    asyncio.run(wait())
    desk.close()
