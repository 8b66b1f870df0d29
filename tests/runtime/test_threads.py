"""Threads that end with the process: results and errors are returned, calls keep their order."""

import asyncio
from queue import SimpleQueue
from threading import Event, current_thread

import pytest

from covey.threads import WorkerThread, in_a_thread

LIMIT_S = 10.0


async def test_the_result_of_a_call_is_returned_from_a_daemon_thread() -> None:
    async with asyncio.timeout(LIMIT_S):
        thread = await in_a_thread(current_thread, "one call")
    assert (thread.name, thread.daemon) == ("one call", True)


async def test_an_error_and_an_exit_are_raised_in_the_caller() -> None:
    def fail() -> None:
        raise KeyError("missing")

    def leave() -> None:
        raise SystemExit(3)

    async with asyncio.timeout(LIMIT_S):
        with pytest.raises(KeyError, match="missing"):
            await in_a_thread(fail, "fails")
        with pytest.raises(RuntimeError, match="SystemExit"):
            await in_a_thread(leave, "leaves")


async def test_a_caller_that_is_cancelled_does_not_wait_for_the_thread() -> None:
    end = Event()
    try:
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.01):
                await in_a_thread(end.wait, "hangs")
    finally:
        end.set()


def test_calls_are_made_one_at_a_time_in_order() -> None:
    made: SimpleQueue[int] = SimpleQueue()
    thread = WorkerThread("calls")
    for number in range(100):
        thread.run(lambda number=number: made.put(number))
    thread.end()
    assert [made.get(timeout=LIMIT_S) for _ in range(100)] == [*range(100)]
