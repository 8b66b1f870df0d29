"""Daemon threads: one for a single call, and one that makes calls in order.

They are daemons, because a call that hangs must not keep the process from ending. asyncio's own pool would: it has few
threads, and the end of the event loop waits for them.
"""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from queue import SimpleQueue
from threading import Thread
from typing import TypeVar

T = TypeVar("T")


def start_thread(work: Callable[[], None], name: str) -> Thread:
    """Start a daemon thread."""
    thread = Thread(target=work, name=name, daemon=True)
    thread.start()
    return thread


async def in_a_thread(work: Callable[[], T], name: str) -> T:
    """Return the result of `work`, or raise its error, from a thread of its own. After a cancellation the thread
    continues to its end. A SystemExit in the thread becomes a RuntimeError."""
    loop = asyncio.get_running_loop()
    done: asyncio.Future[T] = loop.create_future()

    def run() -> None:
        try:
            result = work()
        except Exception as error:  # noqa: BLE001 - raised by the waiting task
            _tell(loop, done, lambda error=error: done.set_exception(error))
        except SystemExit as error:
            _tell(loop, done, lambda error=error: done.set_exception(RuntimeError(repr(error))))
        else:
            _tell(loop, done, lambda: done.set_result(result))

    start_thread(run, name)
    return await done


def _tell(loop: asyncio.AbstractEventLoop, done: "asyncio.Future[T]", tell: Callable[[], None]) -> None:
    def unless_cancelled() -> None:
        if not done.done():
            tell()

    with suppress(RuntimeError):  # the loop is closed: no task waits any more
        loop.call_soon_threadsafe(unless_cancelled)


class WorkerThread:
    """A thread that makes calls one after the other, in the order of `run`."""

    def __init__(self, name: str) -> None:
        self._calls: SimpleQueue[Callable[[], None] | None] = SimpleQueue()
        start_thread(self._work, name)

    def run(self, call: Callable[[], None]) -> None:
        """Queue a call. The call has to handle its own errors: an exception ends the thread."""
        self._calls.put(call)

    def end(self) -> None:
        """End the thread after the queued calls."""
        self._calls.put(None)

    def _work(self) -> None:
        while (call := self._calls.get()) is not None:
            call()
