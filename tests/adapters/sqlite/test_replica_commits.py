"""A commit that begins an append to the log: the event loop continues, and every outcome of the log is handled."""

import asyncio
import threading
from collections.abc import Iterator
from pathlib import Path
from queue import SimpleQueue

import pytest

from covey.adapters.memory.log import MemoryLog
from covey.adapters.sqlite.replica.replicated_store import ReplicatedStore
from covey.core.errors import Unavailable
from covey.ports.log import AppendCallback
from covey.testing import closing, silent
from covey.testing.contracts.store import both, increment
from tests.adapters.sqlite.replicas import Machines

LIMIT_S = 20.0


class HesitantLog(MemoryLog):
    """A log that holds offered records until the test continues."""

    def __init__(self, machines: Machines) -> None:
        log = machines.log
        super().__init__(None, log._shared)  # pyright: ignore[reportPrivateUsage] # the same log
        self.offered: SimpleQueue[tuple[bytes, int, str, AppendCallback]] = SimpleQueue()
        self._is_asked = threading.Semaphore(0)

    def begin_append(self, record: bytes, expected: int, record_id: str, tell: AppendCallback) -> None:
        self.offered.put((record, expected, record_id, tell))
        self._is_asked.release()

    async def asked(self) -> None:
        """Return when another record was offered."""
        assert await asyncio.to_thread(self._is_asked.acquire, timeout=LIMIT_S)

    def go_on(self) -> None:
        """Append the offered record, and report the outcome."""
        record, expected, record_id, tell = self.offered.get(timeout=LIMIT_S)
        tell(self.append(record, expected, record_id))

    def fail(self, error: Exception) -> None:
        self.offered.get(timeout=LIMIT_S)[3](error)


@pytest.fixture
def machines(tmp_path: Path) -> Machines:
    return Machines(tmp_path)


@pytest.fixture
def log(machines: Machines) -> Iterator[HesitantLog]:
    with_log = HesitantLog(machines)
    yield with_log
    assert with_log.offered.empty()


def store(machines: Machines, log: HesitantLog) -> ReplicatedStore:
    return ReplicatedStore(lambda: machines.replica("a", log), ring=silent)


async def begun(log: HesitantLog, opened: ReplicatedStore) -> "asyncio.Task[int]":
    """Return a commit that waits for the log."""
    task = asyncio.create_task(opened.commit(increment))
    await log.asked()
    return task


async def test_the_event_loop_continues_while_the_log_decides(machines: Machines, log: HesitantLog) -> None:
    async with closing(store(machines, log)) as opened:
        task = await begun(log, opened)
        assert await opened.read(both) == (0, 0)
        log.go_on()
        assert await task == 1
        assert await opened.read(both) == (1, 1)


async def test_a_commit_that_lost_the_race_runs_again(machines: Machines, log: HesitantLog) -> None:
    async with closing(store(machines, log)) as opened, closing(machines.store("b")) as other:
        task = await begun(log, opened)
        assert await other.commit(increment) == 1
        log.go_on()
        assert await task == 2
        assert await other.commit(both) == (2, 2)


async def test_an_error_of_the_log_is_raised_and_the_commit_is_undone(machines: Machines, log: HesitantLog) -> None:
    async with closing(store(machines, log)) as opened:
        task = await begun(log, opened)
        log.fail(Unavailable("nobody is there"))
        with pytest.raises(Unavailable, match="nobody is there"):
            await task
        task = await begun(log, opened)
        log.go_on()
        assert await task == 1


def test_a_loop_that_ends_meanwhile_releases_the_writer_lock(machines: Machines, log: HesitantLog) -> None:
    opened = store(machines, log)

    async def begin() -> None:
        await begun(log, opened)

    async def commit_here() -> int:
        async with closing(machines.store("a")) as beside:
            return await beside.commit(increment)

    asyncio.run(begin())
    log.go_on()
    # The record was appended, and no loop received the outcome. Another process of the machine applies it from the log.
    assert asyncio.run(commit_here()) == 2
    asyncio.run(opened.close())


def test_another_loop_can_continue_with_the_store(machines: Machines, log: HesitantLog) -> None:
    opened = store(machines, log)

    async def begin() -> None:
        await begun(log, opened)

    async def go_on() -> int:
        task = await begun(log, opened)
        log.go_on()  # for the first loop, which is gone
        log.go_on()  # this offer is too late: the commit runs again, in a way that may wait
        found = await task
        await opened.close()
        return found

    asyncio.run(begin())
    assert asyncio.run(go_on()) == 2
