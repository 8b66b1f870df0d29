"""`timeout=None`: a wait without limit ends with its event, or when its caller is cancelled."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Collection, Coroutine, Mapping
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from typing import Any

import pytest

from covey.core.checks import seconds
from covey.core.names import Topic
from covey.ports.clock import Bell
from covey.services.polling import Poller
from covey.testing.fakes import HandClock
from tests.scenarios.children import Patient
from tests.scenarios.world import LIMIT_S, World, soon

DAY_S = 86_400.0
MANY_DAYS = 5_000

Waiting = Callable[[World], Coroutine[Any, Any, tuple[Coroutine[Any, Any, object], Callable[[], Any]]]]
"""Prepares a scene. Returns a wait without limit, and the event that ends it."""


class SilentBell:
    """A bell that never rings. The clock passes during each wait."""

    def __init__(self, clock: HandClock) -> None:
        self._clock = clock

    async def wait(self, timeout: float) -> bool:
        self._clock.advance(timeout)
        return False


class SilentWakeups:
    def __init__(self, clock: HandClock) -> None:
        self._clock = clock

    @asynccontextmanager
    async def listen(self, topics: Collection[Topic]) -> AsyncGenerator[Bell]:
        yield SilentBell(self._clock)

    def ring(self, topics: Collection[Topic]) -> None:
        """Nobody hears it."""

    async def close(self) -> None:
        """Nothing is open."""


@pytest.mark.parametrize(("timeout", "expected"), [(None, "found"), (30.0, None)])
async def test_a_wait_without_limit_outlasts_any_time(timeout: float | None, expected: str | None) -> None:
    clock = HandClock(datetime(2026, 1, 1, tzinfo=UTC))
    looks = 0

    async def look() -> str | None:
        nonlocal looks
        looks += 1
        return "found" if looks > MANY_DAYS else None

    poller = Poller(SilentWakeups(clock), clock, None, recheck=DAY_S)
    assert await poller.until([], look, seconds(timeout, "timeout")) == expected


async def ask(world: World) -> tuple[Coroutine[Any, Any, object], Callable[[], Any]]:
    alice, bob = await world.join("alice", "bob")

    async def answer() -> None:
        await bob.reply((await world.is_owed(alice)).message_id, "yes")

    return alice.ask("bob", "shall I?", timeout=None), answer


async def resume(world: World) -> tuple[Coroutine[Any, Any, object], Callable[[], Any]]:
    alice, bob = await world.join("alice", "bob")
    asked = await alice.ask("bob", "shall I?", timeout=0)
    return alice.resume(asked.ticket.id, timeout=None), lambda: bob.reply(asked.ticket.message_id, "yes")


async def request_approval(world: World) -> tuple[Coroutine[Any, Any, object], Callable[[], Any]]:
    alice, bob = await world.join("alice", "bob")

    async def approve() -> None:
        await bob.approve((await world.is_owed(alice)).message_id)

    return alice.request_approval("bob", "plan", "May I?", timeout=None), approve


async def resume_approval(world: World) -> tuple[Coroutine[Any, Any, object], Callable[[], Any]]:
    alice, bob = await world.join("alice", "bob")
    asked = await alice.request_approval("bob", "plan", "May I?", timeout=0)
    return alice.resume_approval(asked.ticket.id, timeout=None), lambda: bob.approve(asked.ticket.message_id)


async def say(world: World) -> tuple[Coroutine[Any, Any, object], Callable[[], Any]]:
    alice, bob = await world.join("alice", "bob")

    async def answer() -> None:
        await world.is_owed(alice)
        await bob.say(str(alice.session.key), "yes", timeout=0)

    return alice.say(str(bob.session.key), "shall I?", timeout=None), answer


async def take(world: World) -> tuple[Coroutine[Any, Any, object], Callable[[], Any]]:
    alice, bob = await world.join("alice", "bob")
    return bob.take(timeout=None), lambda: alice.delegate("bob", "sort the files")


async def pending(world: World) -> tuple[Coroutine[Any, Any, object], Callable[[], Any]]:
    alice, bob = await world.join("alice", "bob")
    return bob.pending(timeout=None), lambda: alice.send("bob", "hello")


async def next_delivery(world: World) -> tuple[Coroutine[Any, Any, object], Callable[[], Any]]:
    alice, bob = await world.join("alice", "bob")
    return bob.inbox.next(timeout=None), lambda: alice.send("bob", "hello")


async def until(world: World) -> tuple[Coroutine[Any, Any, object], Callable[[], Any]]:
    alice, bob = await world.join("alice", "bob")
    receipt = await alice.send("bob", "hello")
    return receipt.until("handled", timeout=None), lambda: bob.handle(receipt.message_id)


async def result_of_a_task(world: World) -> tuple[Coroutine[Any, Any, object], Callable[[], Any]]:
    alice, bob = await world.join("alice", "bob")
    delegated = await alice.delegate("bob", "sort the files")
    taken = await bob.take(timeout=0, start=True)
    assert taken is not None
    return delegated.result(timeout=None), lambda: taken.complete("sorted")


async def result_of_a_child(world: World) -> tuple[Coroutine[Any, Any, object], Callable[[], Any]]:
    (alice,) = await world.join("alice")
    child = Patient()
    spawned = await alice.spawn("sort the files", run=child)

    async def finish() -> None:
        child.let_go()

    return spawned.result(timeout=None), finish


WAITS: Mapping[str, Waiting] = {
    wait.__name__: wait
    for wait in (
        ask,
        resume,
        request_approval,
        resume_approval,
        say,
        take,
        pending,
        next_delivery,
        until,
        result_of_a_task,
        result_of_a_child,
    )
}


async def let_run(task: "asyncio.Task[object]") -> None:
    """Let a wait get as far as it can in memory. The tests hold wherever it is."""
    for _ in range(100):
        await asyncio.sleep(0)
    assert not task.done()


@pytest.mark.parametrize("name", WAITS)
async def test_a_wait_without_limit_ends_with_its_event(world: World, name: str) -> None:
    call, event = await WAITS[name](world)
    task: asyncio.Task[object] = asyncio.create_task(call)
    await let_run(task)
    world.pass_time(minutes=1.0)
    await soon(event())
    assert await asyncio.wait_for(task, LIMIT_S)


@pytest.mark.requirement("trust.cancel")
@pytest.mark.parametrize("name", WAITS)
async def test_a_wait_without_limit_can_be_cancelled_and_leaves_no_wait_behind(world: World, name: str) -> None:
    call, _ = await WAITS[name](world)
    task: asyncio.Task[object] = asyncio.create_task(call)
    await let_run(task)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asyncio.wait_for(task, LIMIT_S)
    assert [edge for edge in await world.services.waits.graph() if edge.is_wait] == []
    await world.end_children()
