"""Group commit: operations that wait at the same time share a transaction, and each is atomic."""

import asyncio
import threading
from collections.abc import Collection, Generator
from contextlib import contextmanager
from pathlib import Path

import pytest

from covey.adapters.sqlite.engine.writer_lock import WriterLock
from covey.adapters.sqlite.transactions import commit_queue, read_queue
from covey.adapters.sqlite.transactions.group_commit import GroupCommit
from covey.core.errors import StoreBusy, StoreClosed
from covey.core.names import AgentName, Topic
from covey.ports.store import Operation, Transaction
from covey.testing import closing
from tests.adapters.sqlite.stories import LIMIT_S, names, register, register_and_fail


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "covey.db"


@contextmanager
def held(path: Path) -> Generator[None]:
    """Hold the writer lock, so that operations gather in the queue."""
    turnstile = WriterLock(str(path))
    turnstile.enter(LIMIT_S)
    try:
        yield
    finally:
        turnstile.close()


async def gathered(store: GroupCommit, path: Path, *operations: Operation[object]) -> list[object]:
    """Commit the operations so that they wait together, and return the outcome of each."""
    with held(path):
        tasks = [asyncio.ensure_future(store.commit(operation)) for operation in operations]
        await asyncio.sleep(0)
    async with asyncio.timeout(LIMIT_S):
        return await asyncio.gather(*tasks, return_exceptions=True)


async def test_operations_that_wait_together_share_one_transaction(path: Path) -> None:
    rung: list[Collection[Topic]] = []
    async with closing(GroupCommit(path, ring=rung.append)) as store:
        results = await gathered(store, path, *(register(f"a{n}", f"topic-{n % 3}") for n in range(30)))
    assert results == [f"a{n}" for n in range(30)]
    assert [set(topics) for topics in rung] == [{"topic-0", "topic-1", "topic-2"}]


async def test_a_light_operation_alone_is_committed_at_once(path: Path) -> None:
    async with closing(GroupCommit(path)) as store:
        with pytest.raises(StopIteration) as done:
            store.commit(register("a"), is_light=True).send(None)
        assert done.value.value == "a"
        assert await store.read(names) == ["a"]


async def test_light_operations_that_arrive_together_share_a_transaction(path: Path) -> None:
    rung: list[Collection[Topic]] = []
    async with closing(GroupCommit(path, ring=rung.append)) as store:
        for turn in range(2):
            light = (store.commit(register(f"a{turn}{n}", f"topic-{n}"), is_light=True) for n in range(4))
            assert await asyncio.gather(*light) == [f"a{turn}{n}" for n in range(4)]
    all_of_them = {f"topic-{n}" for n in range(4)}
    assert [set(topics) for topics in rung] == [{"topic-0"}, all_of_them - {"topic-0"}, all_of_them]


async def test_a_light_operation_waits_for_its_turn_like_any_other(path: Path) -> None:
    async with closing(GroupCommit(path)) as store:
        with held(path):
            committed = asyncio.ensure_future(store.commit(register("a"), is_light=True))
            await asyncio.sleep(0)
            assert not committed.done()
        async with asyncio.timeout(LIMIT_S):
            assert await committed == "a"


async def test_a_light_operation_that_fails_does_not_affect_others(path: Path) -> None:
    async with closing(GroupCommit(path)) as store:
        await store.commit(register("a"), is_light=True)
        await asyncio.sleep(0)
        with pytest.raises(ValueError, match="b"):
            await store.commit(register_and_fail("b"), is_light=True)
        await asyncio.sleep(0)
        await store.commit(register("c"), is_light=True)
        assert await store.read(names) == ["a", "c"]


async def test_a_long_operation_leaves_the_event_loop_free(path: Path) -> None:
    async with closing(GroupCommit(path)) as store:
        started, may_end = threading.Event(), threading.Event()

        async def long(_transaction: Transaction) -> bool:
            started.set()
            return may_end.wait(LIMIT_S)

        task = asyncio.ensure_future(store.commit(long, is_long=True))
        async with asyncio.timeout(LIMIT_S):
            await asyncio.to_thread(started.wait, LIMIT_S)
            may_end.set()
            assert await task


async def test_a_batch_has_a_maximum_size(path: Path) -> None:
    rung: list[Collection[Topic]] = []
    async with closing(GroupCommit(path, ring=rung.append)) as store:
        await gathered(store, path, *(register("bob", f"topic-{n}") for n in range(read_queue.MAX_BATCH + 10)))
    assert [len(topics) for topics in rung] == [read_queue.MAX_BATCH, 10]


async def test_an_operation_that_raises_does_not_affect_others(path: Path) -> None:
    rung: list[Collection[Topic]] = []
    async with closing(GroupCommit(path, ring=rung.append)) as store:
        operations = (register("a", "a"), register_and_fail("b"), register("c", "c"), register_and_fail("d"))
        results = await gathered(store, path, *operations)
        assert [str(result) for result in results] == ["a", "b", "c", "d"]
        assert [type(result) for result in results] == [str, ValueError, str, ValueError]
        assert await store.read(names) == ["a", "c"]
    assert [set(topics) for topics in rung] == [{"a", "c"}]


async def test_changes_that_were_rolled_back_are_forgotten(path: Path) -> None:
    async def next_number(transaction: Transaction) -> int:
        return await transaction.agents.next_number(AgentName("bob"))

    async with closing(GroupCommit(path)) as store:
        await store.commit(register("bob"))
        results = await gathered(store, path, next_number, register_and_fail("bob"), next_number)
        assert [results[0], results[2]] == [1, 2]


async def test_an_operation_that_is_refused_before_it_writes_causes_no_second_run(path: Path) -> None:
    runs: list[str] = []

    async def refused(transaction: Transaction) -> None:
        runs.append("refused")
        raise LookupError(await transaction.agents.get(AgentName("nobody")))

    async def counted(transaction: Transaction) -> None:
        runs.append("counted")
        await register("bob")(transaction)

    async with closing(GroupCommit(path)) as store:
        await gathered(store, path, counted, refused, counted)
    assert runs == ["counted", "refused", "counted"]


async def test_an_operation_that_waits_for_something_else_fails_with_a_clear_error(path: Path) -> None:
    async def waits(transaction: Transaction) -> None:
        await register("bob")(transaction)
        await asyncio.sleep(0)

    async with closing(GroupCommit(path)) as store:
        results = await gathered(store, path, register("a"), waits, register("c"))
        assert isinstance(results[1], RuntimeError)
        assert "may await only its transaction" in str(results[1])
        assert await store.read(names) == ["a", "c"]


async def test_an_operation_that_is_cancelled_before_its_turn_never_runs(path: Path) -> None:
    async with closing(GroupCommit(path)) as store:
        with held(path):
            tasks = [asyncio.ensure_future(store.commit(register(name))) for name in ("a", "b", "c")]
            await asyncio.sleep(0)
            tasks[1].cancel()
            await asyncio.sleep(0)
        async with asyncio.timeout(LIMIT_S):
            await asyncio.gather(*tasks, return_exceptions=True)
        assert tasks[1].cancelled()
        assert await store.read(names) == ["a", "c"]


async def test_an_operation_that_waits_too_long_is_busy_and_never_runs(path: Path) -> None:
    async with closing(GroupCommit(path, limit_s=0.2)) as store:
        with held(path):
            async with asyncio.timeout(LIMIT_S):
                with pytest.raises(StoreBusy):
                    await store.commit(register("late"))
        await store.commit(register("bob"))
        assert await store.read(names) == ["bob"]


async def test_reading_does_not_wait_for_a_writer(path: Path) -> None:
    async with closing(GroupCommit(path)) as store:
        await store.commit(register("bob"))
        with held(path):
            waiting = asyncio.ensure_future(store.commit(register("carol")))
            async with asyncio.timeout(LIMIT_S):
                assert await store.read(names) == ["bob"]
        await waiting


async def test_a_full_queue_refuses(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(commit_queue, "MAX_WAITING", 3)
    async with closing(GroupCommit(path)) as store:
        results = await gathered(store, path, *(register(f"a{n}") for n in range(5)))
    assert [type(result) for result in results] == [str, str, str, StoreBusy, StoreBusy]


async def test_close_finishes_pending_commits(path: Path) -> None:
    store = GroupCommit(path)
    with held(path):
        tasks = [asyncio.ensure_future(store.commit(register(name))) for name in ("a", "b")]
        await asyncio.sleep(0)
        closing_task = asyncio.ensure_future(store.close())
        await asyncio.sleep(0)
        with pytest.raises(StoreClosed):
            await store.commit(register("c"))
    async with asyncio.timeout(LIMIT_S):
        assert await asyncio.gather(*tasks) == ["a", "b"]
        await closing_task
    async with closing(GroupCommit(path)) as again:
        assert await again.read(names) == ["a", "b"]


async def test_close_returns_even_if_a_writer_never_gets_its_turn(path: Path) -> None:
    store = GroupCommit(path, limit_s=0.2)
    with held(path):
        task = asyncio.ensure_future(store.commit(register("a")))
        await asyncio.sleep(0)
        async with asyncio.timeout(LIMIT_S):
            await store.close()
            with pytest.raises(StoreBusy):
                await task
    async with closing(GroupCommit(path)) as again:
        assert await again.read(names) == []


async def test_a_store_can_be_used_by_several_event_loops_in_sequence(path: Path) -> None:
    store = GroupCommit(path)
    await asyncio.to_thread(asyncio.run, store.commit(register("a")))
    await store.commit(register("b"))
    assert await store.read(names) == ["a", "b"]
    await store.close()


def test_a_loop_that_ends_while_a_commit_waits_for_its_turn_does_not_affect_the_next_loop(path: Path) -> None:
    store = GroupCommit(path)

    async def leave_behind() -> None:
        left = asyncio.ensure_future(store.commit(register("first")))
        for _ in range(5):
            await asyncio.sleep(0)
        assert not left.done()

    async def go_on() -> None:
        async with asyncio.timeout(LIMIT_S):
            assert await store.commit(register("second")) == "second"
            assert await store.read(names) == ["second"]
            await store.close()

    with held(path):
        asyncio.run(leave_behind())
    asyncio.run(go_on())


def test_a_loop_that_ends_during_a_long_commit_does_not_affect_the_next_loop(path: Path) -> None:
    store = GroupCommit(path)
    started, may_end = threading.Event(), threading.Event()

    async def long(transaction: Transaction) -> None:
        started.set()
        may_end.wait(LIMIT_S)
        await register("long")(transaction)

    async def leave_behind() -> None:
        left = asyncio.ensure_future(store.commit(long, is_long=True))
        await asyncio.to_thread(started.wait, LIMIT_S)
        assert not left.done()

    async def go_on() -> None:
        async with asyncio.timeout(LIMIT_S):
            committing = asyncio.ensure_future(store.commit(register("next")))
            await asyncio.sleep(0)
            may_end.set()
            assert await committing == "next"
            assert await store.read(names) == ["long", "next"]
            await store.close()

    asyncio.run(leave_behind())
    asyncio.run(go_on())
