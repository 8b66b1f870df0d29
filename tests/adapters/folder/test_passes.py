"""Passes on a separate thread, shared by all callers that wait for one."""

import asyncio
from collections.abc import Collection
from threading import Event

import pytest

from covey.adapters.folder.passes import ThreadedPasses

LIMIT_S = 10.0


class Gated:
    """Passes that block until the gate opens."""

    def __init__(self) -> None:
        self.begun = 0
        self.gate = Event()
        self.has_begun = Event()

    async def run(self, noted: Collection[int] = ()) -> None:
        self.begun += 1
        self.has_begun.set()
        assert self.gate.wait(LIMIT_S)


async def until_begun(gated: Gated) -> None:
    assert await asyncio.to_thread(gated.has_begun.wait, LIMIT_S)


async def test_callers_that_arrive_during_a_pass_share_the_next_one() -> None:
    gated = Gated()
    passes = ThreadedPasses(gated, lambda: None)
    async with asyncio.timeout(LIMIT_S), asyncio.TaskGroup() as group:
        group.create_task(passes.run())
        await until_begun(gated)
        for _ in range(5):
            group.create_task(passes.run())
        await asyncio.sleep(0)
        gated.gate.set()
    assert gated.begun == 2
    await passes.close()


async def test_a_cancelled_caller_does_not_affect_other_callers() -> None:
    gated = Gated()
    passes = ThreadedPasses(gated, lambda: None)
    first = asyncio.create_task(passes.run())
    await until_begun(gated)
    one, other = asyncio.create_task(passes.run()), asyncio.create_task(passes.run())
    await asyncio.sleep(0)
    first.cancel()
    one.cancel()
    gated.gate.set()
    async with asyncio.timeout(LIMIT_S):
        await other
        await asyncio.wait([first, one])
    assert (first.cancelled(), one.cancelled(), gated.begun) == (True, True, 2)
    await passes.close()


async def test_an_error_in_a_pass_is_raised_in_the_waiting_caller() -> None:
    class Broken:
        async def run(self, noted: Collection[int] = ()) -> None:
            raise LookupError("broken")

    passes = ThreadedPasses(Broken(), lambda: None)
    with pytest.raises(LookupError):
        await passes.run()
    await passes.close()


async def test_resources_are_released_once_after_the_last_pass() -> None:
    gated = Gated()
    gated.gate.set()
    let_go: list[int] = []
    passes = ThreadedPasses(gated, lambda: let_go.append(gated.begun))
    await passes.run()
    await passes.close()
    await passes.close()
    await passes.run()
    assert (let_go, gated.begun) == ([1], 1)
