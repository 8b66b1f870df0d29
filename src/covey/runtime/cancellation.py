"""The completion of work after its caller was cancelled, and the release of its result.

A commit that is under way can't be taken back. A task that is cancelled while it joins, claims or takes something may
have acquired it without knowing. So such work runs in a task of its own, and the owner of that task undoes the work if
the caller was cancelled. The cancellation itself is never swallowed.
"""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from contextlib import suppress
from typing import Any, TypeVar

from covey.core.errors import CoveyError

T = TypeVar("T")

PATIENCE_S = 10.0
"""Longest time that a cancelled caller waits for its work to be undone. After that, or when it is cancelled once more,
the caller returns and the work goes on without it."""


class Finisher:
    """The owner of work that was begun by tasks that may be cancelled; for one event loop."""

    def __init__(self) -> None:
        self._tasks: set[asyncio.Task[Any]] = set()

    async def acquire(
        self,
        work: Coroutine[Any, Any, T],
        release: Callable[[T], Awaitable[object]],
        interrupt: Callable[[asyncio.Task[T]], None] | None = None,
    ) -> T:
        """Return the result of `work`. If the caller is cancelled, the work still runs to its end, and `release` is
        called with its result before the cancellation is raised. `interrupt` may then speed up or cancel the task."""
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
        """Return the result of `work`. If the caller is cancelled, the work still runs to its end before the
        cancellation is raised."""
        task = self._begin(work)
        try:
            await asyncio.wait({task})
        except asyncio.CancelledError:
            await self._outlast(task)
            raise
        return task.result()

    async def close(self) -> None:
        """Wait until all work has ended."""
        while self._tasks:
            await asyncio.wait(self._tasks)

    async def _outlast(self, task: asyncio.Task[Any]) -> None:
        with suppress(asyncio.CancelledError):  # the caller raises its own cancellation
            await asyncio.wait({task}, timeout=PATIENCE_S)

    def _begin(self, work: Coroutine[Any, Any, T]) -> asyncio.Task[T]:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._ended)
        return task

    def _ended(self, task: asyncio.Task[Any]) -> None:
        self._tasks.discard(task)
        if not task.cancelled():
            task.exception()  # marks the exception as seen, because a cancelled caller does not ask for it


async def _released(task: asyncio.Task[T], release: Callable[[T], Awaitable[object]]) -> None:
    await asyncio.wait({task})
    if not task.cancelled() and task.exception() is None:
        with suppress(CoveyError):  # the end of the session or of a lease releases it too
            await release(task.result())
