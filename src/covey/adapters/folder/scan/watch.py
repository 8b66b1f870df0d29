"""The watch on the folder: hints to an event loop that a look may find changes."""

import asyncio
import ctypes
import errno
import os
import struct
import sys
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterable, Sequence
from contextlib import aclosing, asynccontextmanager
from functools import cache
from typing import Final, NamedTuple

from covey.adapters.folder.disk_layout import ARCHIVE, INBOXES, PROCESSED, SWEPT, above_inboxes, inbox_of
from covey.adapters.folder.scan.places import entries_of
from covey.core.formats.layout import Layout, is_folder_name

_CLOSE_WRITE: Final = 0x8
_MOVED_FROM: Final = 0x40
_MOVED_TO: Final = 0x80
_CREATE: Final = 0x100
_DELETE: Final = 0x200
_DELETE_SELF: Final = 0x400
_MOVE_SELF: Final = 0x800
_OVERFLOW: Final = 0x4000
_IGNORED: Final = 0x8000
_ONLY_FOLDERS: Final = 0x01000000
_NO_LINKS: Final = 0x02000000
_IS_FOLDER: Final = 0x40000000

_MASK: Final = (
    _CLOSE_WRITE | _MOVED_FROM | _MOVED_TO | _CREATE | _DELETE | _DELETE_SELF | _MOVE_SELF | _ONLY_FOLDERS | _NO_LINKS
)
_FOLDERS_MOVED: Final = _DELETE_SELF | _MOVE_SELF | _OVERFLOW | _IGNORED | _IS_FOLDER
_HEAD: Final = struct.Struct("iIII")
_ROOM: Final = 64 * 1024
_GONE: Final = (errno.ENOENT, errno.ENOTDIR, errno.EACCES, errno.ELOOP)


class WatchedChange(NamedTuple):
    is_change: bool
    """True if a message may be affected."""
    is_rebuilt: bool
    """True if folders were added or removed, so that the watches have to be set again."""


class Inotify:
    """An inotify instance of the kernel. Raises OSError if the system has no inotify, or too many are in use."""

    def __init__(self) -> None:
        if not sys.platform.startswith("linux"):
            raise OSError(errno.ENOSYS, "no inotify here")
        self.descriptor = _checked(_library().inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC))

    def watch(self, folders: Iterable[str]) -> None:
        """Watch more folders. Watched folders stay watched, and missing ones are skipped."""
        for folder in folders:
            try:
                _checked(_library().inotify_add_watch(self.descriptor, os.fsencode(folder), _MASK))
            except OSError as error:
                if error.errno not in _GONE:
                    raise

    def read(self) -> WatchedChange:
        """Return the news since the last call. Events of hidden files, such as temporary ones, are ignored."""
        is_change = is_rebuilt = False
        while True:
            try:
                events = os.read(self.descriptor, _ROOM)
            except BlockingIOError:
                return WatchedChange(is_change, is_rebuilt)
            place = 0
            while place < len(events):
                _, mask, _, length = _HEAD.unpack_from(events, place)
                name = events[place + _HEAD.size : place + _HEAD.size + length]
                place += _HEAD.size + length
                if not name.startswith(b"."):
                    is_change = True
                    is_rebuilt = is_rebuilt or bool(mask & _FOLDERS_MOVED)

    def close(self) -> None:
        os.close(self.descriptor)


@cache
def _library() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)


def _checked(result: int) -> int:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    return result


POLL_S: Final = 0.2
"""The polling interval without inotify."""
RECHECK_S: Final = 1.0
"""The polling interval with inotify: kernels do not report changes by other machines, and a young file becomes old
enough to be read."""
BEAT_S: Final = 5.0
"""The longest interval between two hints, with or without a change."""
SETTLING_S: Final = 0.002
"""The time for which changes are collected: mostly several come at once."""

HasNews = Callable[[], bool]


@asynccontextmanager
async def watching(root: str, layout: Layout, has_news: HasNews) -> AsyncGenerator[AsyncIterator[None]]:
    """Yield an iterator that yields whenever the folder may have changed."""
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
    """An event that inotify sets, with a timeout for polling."""

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
        """Tell whether the event was set since the last call, and clear it."""
        was_set = self._event.is_set()
        self._event.clear()
        return was_set

    async def wait(self) -> None:
        """Wait for an event, or for the polling interval."""
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
            self.close()  # no more watches are available: poll from now on


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
