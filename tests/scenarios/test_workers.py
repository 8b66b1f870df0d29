"""Workers: programs that process the tasks of an agent, whatever the handler does and whether tasks are taken back."""

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import Any, TypeVar

import pytest

from covey import Assignment, Failure, Member, Moment, Result, Worker, WorkerEvent
from covey.core.errors import Invalid, SessionEnded, StoreBusy
from covey.core.ledger.message import DataPart
from covey.core.work.task import TaskState
from covey.ports.store import Capabilities, Operation, Store
from covey.runtime.tasks.held_task import Answer
from covey.surfaces.python.tasks import Delegated
from tests.scenarios.world import World, soon

T = TypeVar("T")
COMPLETED, FAILED, REJECTED, WORKING = TaskState.COMPLETED, TaskState.FAILED, TaskState.REJECTED, TaskState.WORKING


@asynccontextmanager
async def at_work(worker: Worker) -> AsyncGenerator[None]:
    """Run a worker during the block, and stop it in order afterwards."""
    async with asyncio.TaskGroup() as group:
        group.create_task(worker.run())
        yield
        worker.stop()


async def ended(task: Delegated) -> tuple[TaskState, str]:
    """Wait until a task is finished. Return its state and the text of its final update."""
    result = await soon(task.result(timeout=3600))
    assert result is not None
    return task.state, result.text


async def answer(assignment: Assignment) -> Answer:
    """Return the kind of answer that the task asks for."""
    given: dict[str, Answer] = {
        "text": "a text",
        "dict": {"n": 1},
        "nothing": None,
        "result": Result("both", {"n": 2}),
        "failure": Failure("too hard", "It is too hard for me."),
    }
    if assignment.text == "raise":
        raise LookupError("no such file")
    if assignment.text == "itself":
        await assignment.complete("by hand")
        return "twice"
    if assignment.text == "wrong":
        return {"not": object()}  # pyright: ignore[reportReturnType]
    if assignment.text == "huge":
        return "x" * 2_000_000
    return given[assignment.text]


class Held:
    """A handler that reports its start and runs until it is released or cancelled."""

    def __init__(self) -> None:
        self.begun = asyncio.Event()
        self.let_go = asyncio.Event()
        self.cancelled = 0
        self.running = 0
        self.most = 0

    async def __call__(self, assignment: Assignment) -> str:
        self.running += 1
        self.most = max(self.most, self.running)
        self.begun.set()
        try:
            await self.let_go.wait()
        except asyncio.CancelledError:
            self.cancelled += 1
            raise
        finally:
            self.running -= 1
        return assignment.text


class Moments:
    """The recorded moments of a worker, with a way to wait for one."""

    def __init__(self) -> None:
        self.seen: list[WorkerEvent] = []
        self._news = asyncio.Event()

    def __call__(self, event: WorkerEvent) -> None:
        self.seen.append(event)
        self._news.set()

    async def until(self, moment: Moment) -> WorkerEvent:
        async def look() -> WorkerEvent:
            while (found := next((one for one in self.seen if one.moment is moment), None)) is None:
                self._news.clear()
                await self._news.wait()
            return found

        return await soon(look())


async def test_the_return_value_of_a_handler_is_the_result(world: World) -> None:
    alice, bob = await world.join("alice", "bob")
    async with at_work(bob.worker(answer)):
        assert await ended(await alice.delegate("bob", "text")) == (COMPLETED, "a text")
        assert await ended(await alice.delegate("bob", "nothing")) == (COMPLETED, "Done.")
        data = await alice.delegate("bob", "dict")
        assert (await ended(data))[0] is COMPLETED
        result = await alice.receipt((await data.refresh()).record.result or "")
        assert DataPart({"n": 1}) in (await world.services.mail.message(result.message_id)).parts
        assert await ended(await alice.delegate("bob", "result")) == (COMPLETED, "both")
        assert await ended(await alice.delegate("bob", "itself")) == (COMPLETED, "by hand")


async def test_a_handlers_failure_is_reported_to_the_delegator_and_harms_no_other_task(world: World) -> None:
    alice, bob = await world.join("alice", "bob")
    async with at_work(bob.worker(answer, concurrency=3)):
        tasks = {what: await alice.delegate("bob", what) for what in ("raise", "failure", "wrong", "huge", "text")}
        told = {what: await ended(task) for what, task in tasks.items()}
    assert told["raise"] == (FAILED, "LookupError: no such file")
    assert told["failure"] == (FAILED, "It is too hard for me.")
    assert tasks["failure"].reason == "too hard"
    assert told["wrong"][0] is FAILED
    assert "can't be written as JSON" in told["wrong"][1]
    assert told["huge"][0] is FAILED
    assert "can't be handed in" in told["huge"][1]
    assert told["text"] == (COMPLETED, "a text")


async def test_a_task_that_is_cancelled_stops_its_handler(world: World) -> None:
    alice, bob = await world.join("alice", "bob")
    held, moments = Held(), Moments()
    async with at_work(bob.worker(held, tell=moments)):
        task = await alice.delegate("bob", "long")
        await soon(held.begun.wait())
        await task.cancel("not needed")
        over = await moments.until(Moment.OVER)
        assert (held.cancelled, over.text) == (1, "cancelled: not needed")
        assert await bob.inbox.peek() == [], "it is told to stop no longer"
        held.let_go.set()
        assert await ended(await alice.delegate("bob", "another")) == (COMPLETED, "another")


async def test_a_deadline_stops_the_handler_and_both_sides_learn_it(world: World) -> None:
    alice, bob = await world.join("alice", "bob")
    held, moments = Held(), Moments()
    async with at_work(bob.worker(held, tell=moments)):
        task = await alice.delegate("bob", "long", deadline=world.clock.now() + timedelta(minutes=5))
        await soon(held.begun.wait())
        world.pass_time(minutes=6)
        await moments.until(Moment.OVER)
    assert held.cancelled == 1
    assert (await ended(task))[0] is FAILED
    assert task.reason == "its deadline passed"


async def test_a_stopped_worker_finishes_running_tasks_and_takes_no_new_ones(world: World) -> None:
    alice, bob = await world.join("alice", "bob")
    held = Held()
    async with at_work(worker := bob.worker(held)):
        first = await alice.delegate("bob", "first")
        await soon(held.begun.wait())
        worker.stop()
        second = await alice.delegate("bob", "second")
        held.let_go.set()
    assert await ended(first) == (COMPLETED, "first")
    assert (await second.refresh()).state is TaskState.PENDING


async def test_tasks_that_exceed_the_drain_time_are_left_for_the_next_session(world: World) -> None:
    alice, bob, again = await world.join("alice", "bob", "bob")
    held, moments = Held(), Moments()
    task = await alice.delegate("bob", "long")
    async with at_work(bob.worker(held, drain=0.0, tell=moments)):
        await soon(held.begun.wait())
    assert (held.cancelled, moments.seen[-1].moment) == (1, Moment.LEFT)
    assert (await task.refresh()).state is WORKING
    taken = await again.take(timeout=0)
    assert taken is not None
    assert (taken.attempt, taken.state) == (2, WORKING)
    await taken.complete("done")
    assert await ended(task) == (COMPLETED, "done")


async def test_a_cancelled_worker_releases_its_tasks(world: World) -> None:
    alice, bob, again = await world.join("alice", "bob", "bob")
    held = Held()
    task = await alice.delegate("bob", "long")
    running = asyncio.ensure_future(bob.work(held))
    await soon(held.begun.wait())
    running.cancel()
    await soon(asyncio.wait({running}))
    assert held.cancelled == 1
    async with at_work(again.worker(_echo)):
        assert await ended(task) == (COMPLETED, "long")


async def _echo(assignment: Assignment) -> str:
    return assignment.text


async def test_a_worker_that_is_cancelled_during_its_judgement_releases_the_task_too(world: World) -> None:
    alice, bob, again = await world.join("alice", "bob", "bob")
    judging = asyncio.Event()

    async def ponder(_: Assignment) -> bool:
        judging.set()
        await asyncio.Event().wait()
        return True

    task = await alice.delegate("bob", "doubtful")
    running = asyncio.ensure_future(bob.work(_echo, judgement=ponder))
    await soon(judging.wait())
    running.cancel()
    await soon(asyncio.wait({running}))
    async with at_work(again.worker(_echo)):
        assert await ended(task) == (COMPLETED, "doubtful")


async def test_a_judgement_decides_and_a_failing_one_rejects(world: World) -> None:
    alice, bob = await world.join("alice", "bob")

    async def judge(assignment: Assignment) -> bool | str:
        if assignment.text == "broken":
            raise ValueError("no opinion")
        return assignment.text == "fine" or "not mine"

    async with at_work(bob.worker(_echo, judgement=judge)):
        assert await ended(await alice.delegate("bob", "fine")) == (COMPLETED, "fine")
        for what, why in (("odd", "not mine"), ("broken", "its judgement failed: ValueError: no opinion")):
            task = await alice.delegate("bob", what)
            assert (await ended(task))[0] is REJECTED
            assert task.reason == why


async def test_no_more_tasks_run_at_once_than_the_worker_and_the_quota_allow(world: World) -> None:
    alice = await world.process().join("alice")
    bob = await world.process().join("bob", card={"quota": 2})
    held = Held()
    tasks = [await alice.delegate("bob", f"task {n}") for n in range(6)]
    async with at_work(bob.worker(held, concurrency=5)):
        await soon(held.begun.wait())
        held.let_go.set()
        assert [(await ended(task))[0] for task in tasks] == [COMPLETED] * 6
    assert 1 <= held.most <= 2


async def test_a_worker_can_end_when_it_is_idle(world: World) -> None:
    alice, bob = await world.join("alice", "bob")
    tasks = [await alice.delegate("bob", f"task {n}") for n in range(4)]
    await soon(bob.work(_echo, concurrency=2, until_idle=True))
    assert [(await task.refresh()).state for task in tasks] == [COMPLETED] * 4


async def test_a_task_that_sessions_keep_releasing_has_failed(world: World) -> None:
    alice, bob = await world.join("alice", "bob")
    task = await alice.delegate("bob", "deadly")
    for _ in range(2):
        await _leave_it(bob)
    await soon(bob.work(_echo, attempts=2, until_idle=True))
    assert (await ended(task))[0] is FAILED
    assert task.reason == "2 sessions took it up and ended before it was finished"


async def _leave_it(member: Member) -> None:
    taken = await member.take(timeout=0)
    assert taken is not None
    await taken.let_go()


class Flaky:
    """A store that is unavailable at every third call."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._calls = 0
        self.is_flaky = False

    @property
    def capabilities(self) -> Capabilities:
        return self._store.capabilities

    async def commit(self, operation: Operation[T], *, is_long: bool = False, is_light: bool = False) -> T:
        self._fail()
        return await self._store.commit(operation, is_long=is_long, is_light=is_light)

    async def read(self, operation: Operation[T], *, is_long: bool = False) -> T:
        self._fail()
        return await self._store.read(operation, is_long=is_long)

    async def close(self) -> None:
        await self._store.close()

    def _fail(self) -> None:
        self._calls += self.is_flaky
        if self._calls % 3 == 1:
            raise StoreBusy("somebody else writes", 0.1)


async def test_a_temporarily_unavailable_store_is_retried(world: World) -> None:
    alice = await world.process().join("alice")
    stores: list[Flaky] = []

    def wrap(store: Store) -> Store:
        stores.append(Flaky(store))
        return stores[0]

    bob = await world.process(wrap).join("bob")
    task = await alice.delegate("bob", "text")
    moments = Moments()
    stores[0].is_flaky = True
    await soon(bob.work(answer, until_idle=True, tell=moments))
    assert await ended(task) == (COMPLETED, "a text")
    assert Moment.TROUBLE in [one.moment for one in moments.seen]


@pytest.mark.parametrize("wrong", [{"concurrency": 0}, {"attempts": "3"}, {"drain": -1}, {"until_idle": 1}])
async def test_invalid_options_are_refused(world: World, wrong: dict[str, Any]) -> None:
    (bob,) = await world.join("bob")
    make: Callable[..., Worker] = bob.worker
    with pytest.raises(Invalid):
        make(_echo, **wrong)


async def test_a_worker_ends_if_its_session_was_ended_elsewhere(world: World) -> None:
    alice, bob = await world.join("alice", "bob")
    await bob.leave()
    await alice.delegate("bob", "text")
    with pytest.raises(SessionEnded):
        await soon(bob.work(_echo))
