"""Watching the folder: what tells an event loop that it may be worth looking."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Sequence
from contextlib import aclosing, asynccontextmanager
from typing import Final

from covey.adapters.files.folders import entries_of
from covey.adapters.files.inotify import Inotify
from covey.adapters.files.shelves import ARCHIVE, INBOXES, PROCESSED, SWEPT, above_inboxes, inbox_of
from covey.core.layout import Layout
from covey.core.layout_ids import is_folder_name

POLL_S: Final = 0.2
"""How often is looked where the kernel tells nothing."""
RECHECK_S: Final = 1.0
"""How often is looked all the same: kernels do not tell what other machines do, and a young file grows old."""
BEAT_S: Final = 5.0
"""How often is yielded without a reason."""
SETTLING_S: Final = 0.002
"""How long changes are gathered: mostly several come at once."""

HasNews = Callable[[], bool]


@asynccontextmanager
async def watching(root: str, layout: Layout, has_news: HasNews) -> AsyncGenerator[AsyncIterator[None]]:
    """Yield what yields whenever something may have changed."""
    try:
        inotify = Inotify()
    except OSError:
        inotify = None
    watch = _Watch(root, layout, inotify)
    try:
        async with aclosing(_changes(watch, has_news)) as changes:
            yield changes
    finally:
        watch.close()


async def _changes(watch: "_Watch", has_news: HasNews) -> AsyncGenerator[None]:
    loop = asyncio.get_running_loop()
    told_at = loop.time() - BEAT_S
    while True:
        if watch.has_changed() or has_news() or loop.time() - told_at >= BEAT_S:
            told_at = loop.time()
            yield
        await watch.wait()


class _Watch:
    """An event that the kernel sets, or time does."""

    def __init__(self, root: str, layout: Layout, inotify: Inotify | None) -> None:
        self._root = root
        self._layout = layout
        self._inotify = inotify
        self._event = asyncio.Event()
        self._loop = asyncio.get_running_loop()
        if inotify is not None:
            self._loop.add_reader(inotify.descriptor, self._read)
            self._watch()

    def has_changed(self) -> bool:
        """Tell whether something has happened since the last time."""
        was_set = self._event.is_set()
        self._event.clear()
        return was_set

    async def wait(self) -> None:
        """Wait until something happens, or it is time to look without that."""
        try:
            async with asyncio.timeout(POLL_S if self._inotify is None else RECHECK_S):
                await self._event.wait()
        except TimeoutError:
            return
        await asyncio.sleep(SETTLING_S)

    def close(self) -> None:
        if self._inotify is not None:
            self._loop.remove_reader(self._inotify.descriptor)
            self._inotify.close()
            self._inotify = None

    def _read(self) -> None:
        if self._inotify is None:
            return
        news = self._inotify.read()
        if news.is_rebuilt:
            self._watch()
        if news.is_change:
            self._event.set()

    def _watch(self) -> None:
        if self._inotify is None:
            return
        try:
            self._inotify.watch(_folders(self._root, self._layout))
        except OSError:
            self.close()  # no more watches to be had: from now on it is looked


def _folders(root: str, layout: Layout) -> Sequence[str]:
    above = above_inboxes(layout)
    owners = [
        entry.name
        for entry in entries_of(f"{root}/{above}" if above else root)
        if is_folder_name(entry.name) and entry.is_dir(follow_symlinks=False)
    ]
    folders = [f"{root}/{inbox_of(layout, owner)}" for owner in owners]
    if layout is Layout.MAILBOX:
        beside = [f"{root}/{owner}{below}" for owner in owners for below in ("", f"/{PROCESSED}")]
        return [root, *folders, *beside]
    return [root, *(f"{root}/{folder}" for folder in (INBOXES, ARCHIVE, SWEPT)), *folders]
