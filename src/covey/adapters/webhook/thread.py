"""A thread for one call: it never waits for a free one, and nobody waits for it at the end."""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from threading import Thread
from typing import TypeVar

T = TypeVar("T")


async def in_a_thread(work: Callable[[], T]) -> T:
    """Return what `work` returns, or raise what it raises. Cancelled, it leaves the thread to end by itself.

    asyncio's own pool has few threads: receivers that hang would hold up posts for others. And whoever ends waits for
    that pool, even where a name server does not answer.
    """
    loop = asyncio.get_running_loop()
    done: asyncio.Future[T] = loop.create_future()

    def run() -> None:
        try:
            result = work()
        except Exception as error:  # noqa: BLE001 - whatever it is, the waiting task raises it
            _tell(loop, done, lambda error=error: done.set_exception(error))
        else:
            _tell(loop, done, lambda: done.set_result(result))

    Thread(target=run, daemon=True).start()
    return await done


def _tell(loop: asyncio.AbstractEventLoop, done: "asyncio.Future[T]", tell: Callable[[], None]) -> None:
    def unless_cancelled() -> None:
        if not done.done():
            tell()

    with suppress(RuntimeError):  # the loop is closed: nobody waits any more
        loop.call_soon_threadsafe(unless_cancelled)
