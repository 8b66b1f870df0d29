"""Wake-ups of a shared folder: while a caller waits in this process, files of other programs are accepted."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Collection
from contextlib import AbstractAsyncContextManager, asynccontextmanager

from covey.core.errors import CoveyError
from covey.core.names import Topic
from covey.ports.clock import Bell, Wakeups
from covey.ports.folder import Folder

Reconcile = Callable[[], Awaitable[None]]
"""Accepts the changes of other programs, and rings the topics that they concern."""


class _Watcher:
    """The task that watches the folder for all waiting callers of one event loop."""

    def __init__(self, task: "asyncio.Task[None]") -> None:
        self.task = task
        self.waiters = 0


class WatchingWakeups:
    """`Wakeups` around others. On each event loop, the first listener starts to watch the folder, and the last one
    stops."""

    def __init__(self, inner: Wakeups, folder: Folder, reconcile: Reconcile) -> None:
        self._inner = inner
        self._folder = folder
        self._reconcile = reconcile
        self._watchers: dict[asyncio.AbstractEventLoop, _Watcher] = {}

    def ring(self, topics: Collection[Topic]) -> None:
        self._inner.ring(topics)

    @asynccontextmanager
    async def _listening(self, topics: Collection[Topic]) -> AsyncGenerator[Bell]:
        async with self._inner.listen(topics) as bell:
            loop = asyncio.get_running_loop()
            watcher = self._watchers.get(loop)
            if watcher is None:
                watcher = self._watchers[loop] = _Watcher(loop.create_task(self._watch()))
            watcher.waiters += 1
            try:
                yield bell
            finally:
                watcher.waiters -= 1
                if not watcher.waiters:
                    del self._watchers[loop]
                    await _stop(watcher.task)

    def listen(self, topics: Collection[Topic]) -> AbstractAsyncContextManager[Bell]:
        return self._listening(topics)

    async def close(self) -> None:
        await self._inner.close()

    async def _watch(self) -> None:
        async with self._folder.changes() as changes:
            async for _ in changes:
                try:
                    await self._reconcile()
                except CoveyError:
                    continue  # callers that use the space get the error; the watcher waits for the next change


async def _stop(task: "asyncio.Task[None]") -> None:
    """Cancel a task, wait until it has ended, and raise its error."""
    task.cancel()
    await asyncio.wait([task])
    if not task.cancelled() and (error := task.exception()) is not None:
        raise error
