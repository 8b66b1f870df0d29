"""Work that a cancelled caller leaves behind is finished, and what it acquired is released.

A commit that is under way can't be taken back: a task that is cancelled while it joins, claims or takes something may
have it all the same, and would not know. So such work runs in a task of its own, and its owner undoes it where the
caller was cancelled meanwhile. The cancellation itself is never swallowed.
"""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from contextlib import suppress
from typing import Any, TypeVar

from covey.core.errors import CoveyError

T = TypeVar("T")

PATIENCE_S = 10.0
"""How long a cancelled caller waits for its work to be undone. After that, and when it is cancelled once more, it waits
no longer; the work goes on without it."""


class Finisher:
    """The owner of work that was begun by tasks which may be cancelled. For one event loop."""

    def __init__(self) -> None:
        self._tasks: set[asyncio.Task[Any]] = set()

    async def acquire(
        self,
        work: Coroutine[Any, Any, T],
        release: Callable[[T], Awaitable[object]],
        interrupt: Callable[[asyncio.Task[T]], None] | None = None,
    ) -> T:
        """Return the result of `work`. If the caller is cancelled meanwhile, the work still runs to its end and
        `release` is called with its result before the cancellation is raised. `interrupt` may hurry the task then,
        or cancel it."""
        task = self._begin(work)
        try:
            await asyncio.wait({task})
        except asyncio.CancelledError:
            if interrupt is not None:
                interrupt(task)
            await self._outlast(self._begin(_released(task, release)))
            raise
        return task.result()

    async def complete(self, work: Coroutine[Any, Any, T]) -> T:
        """Return the result of `work`, which comes to its end though the caller is cancelled meanwhile; then the
        cancellation is raised."""
        task = self._begin(work)
        try:
            await asyncio.wait({task})
        except asyncio.CancelledError:
            await self._outlast(task)
            raise
        return task.result()

    async def close(self) -> None:
        """Wait until everything that was begun has come to its end."""
        while self._tasks:
            await asyncio.wait(self._tasks)

    async def _outlast(self, task: asyncio.Task[Any]) -> None:
        with suppress(asyncio.CancelledError):  # the caller raises the one that it has
            await asyncio.wait({task}, timeout=PATIENCE_S)

    def _begin(self, work: Coroutine[Any, Any, T]) -> asyncio.Task[T]:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._ended)
        return task

    def _ended(self, task: asyncio.Task[Any]) -> None:
        self._tasks.discard(task)
        if not task.cancelled():
            task.exception()  # a caller that was cancelled does not ask for it


async def _released(task: asyncio.Task[T], release: Callable[[T], Awaitable[object]]) -> None:
    await asyncio.wait({task})
    if not task.cancelled() and task.exception() is None:
        with suppress(CoveyError):  # the end of the session, or of a lease, releases it too
            await release(task.result())
