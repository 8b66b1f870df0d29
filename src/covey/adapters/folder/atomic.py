"""Whole writes: a file has its name only when all of it is on the disk, whoever looks, and whoever is killed.

It is written under a name that no reader takes for a message, synchronised, renamed, and then its folder is
synchronised. All functions raise OSError.
"""

# No pathlib, tempfile or uuid: short-lived programs write here.

import os
import time
from collections.abc import Callable, Iterable, Sequence
from typing import Final

from covey.disk.syncing import open_folder, sync, sync_and_close, sync_folder

_PREFIX: Final = ".covey-"
_SUFFIX: Final = ".tmp"
LEFTOVER_AGE_S: Final = 60.0
"""A temporary file that is older was left by a writer that is dead, or stopped for so long that it begins anew."""
_FILE_MODE: Final = 0o600
_FOLDER_MODE: Final = 0o700
_AT_ONCE: Final = 64
"""How many files are open at a time."""


def write(path: str, content: bytes, mode: int = _FILE_MODE) -> None:
    """Write a file, in the place of one that has its name; it is whole and durable when this returns."""
    write_all([(path, content)], mode)


def write_all(files: Sequence[tuple[str, bytes]], mode: int = _FILE_MODE) -> None:
    """Write files, each as `write` does, in their order. Their folders, which must be there, are synchronised once."""
    name_all(files, _nothing, _nothing, mode)
    sync_folders(os.path.dirname(path) for path, _ in files)


def name_all(
    files: Sequence[tuple[str, bytes]],
    written: Callable[[], None],
    synchronised: Callable[[], None],
    mode: int = _FILE_MODE,
) -> None:
    """Do the same without their folders. `written` is called when some are written and have not been synchronised,
    and `synchronised` before they get their names."""
    for start in range(0, len(files), _AT_ONCE):
        _write_some(files[start : start + _AT_ONCE], written, synchronised, mode)


def move_all(moves: Sequence[tuple[str, str]]) -> None:
    """Move files, in their order. The moves are durable when this returns. A source that is gone is
    FileNotFoundError; a target that is there is replaced."""
    try:
        for source, target in moves:
            os.rename(source, target)
    finally:
        # Targets first: after a power cut between the two a file stands in both places, and never in none.
        sync_folders([os.path.dirname(target) for _, target in moves])
        sync_folders([os.path.dirname(source) for source, _ in moves])


def make_folders(root: str, *names: str) -> str:
    """Make the folders `names`, each in the one before, under a root that is there; return the last one's path. Those
    that were made are durable."""
    path = root
    for name in names:
        parent, path = path, f"{path}/{name}"
        try:
            os.mkdir(path, _FOLDER_MODE)
        except FileExistsError:
            continue
        sync_folders([parent])
    return path


def sync_folders(folders: Iterable[str]) -> None:
    """See to it that the names in the folders outlive a power cut; each once."""
    for folder in dict.fromkeys(folders):
        sync_folder(folder)


class FolderSync:
    """Folders that are to be synchronised in a while, where the wait is to begin without a delay then."""

    def __init__(self, folders: Iterable[str]) -> None:
        self._folders = list(dict.fromkeys(folders))
        self._first = -1

    def prepare(self) -> None:
        """Do what can be done before the wait; `wait` is called then in any case."""
        if self._folders:
            self._first = open_folder(self._folders.pop(0))

    def wait(self) -> None:
        """Return when they are on the disk."""
        if self._first >= 0:
            descriptor, self._first = self._first, -1
            sync_and_close(descriptor)
        sync_folders(self._folders)


def is_temporary(name: str) -> bool:
    """Tell whether a file is one of ours that has no name yet."""
    return name.startswith(_PREFIX) and name.endswith(_SUFFIX)


def remove_leftovers(folder: str, names: Iterable[str] | None = None, *, older_than_s: float = LEFTOVER_AGE_S) -> int:
    """Remove temporary files that dead writers have left in a folder; return how many. `names` are those in the folder,
    for callers that have them anyway. What can't be removed stays: it is in nobody's way."""
    if names is None:
        try:
            names = os.listdir(folder)
        except FileNotFoundError:
            return 0
    removed = 0
    for name in leftovers(folder, names, older_than_s):
        try:
            os.unlink(f"{folder}/{name}")
            removed += 1
        except OSError:
            continue
    return removed


def leftovers(folder: str, names: Iterable[str], older_than_s: float = LEFTOVER_AGE_S) -> Sequence[str]:
    """Return those of the names that are temporary files of dead writers."""
    oldest = time.time() - older_than_s
    found: list[str] = []
    for name in names:
        try:
            if is_temporary(name) and os.lstat(f"{folder}/{name}").st_mtime <= oldest:
                found.append(name)
        except OSError:
            continue
    return found


def _write_some(
    files: Sequence[tuple[str, bytes]], written: Callable[[], None], synchronised: Callable[[], None], mode: int
) -> None:
    begun: list[_Unfinished] = []
    try:
        for path, content in files:
            begun.append(_Unfinished(path, mode))
            begun[-1].fill(content)
        written()
        # All are with the kernel by now: one wait for the disk mostly serves the rest too.
        for unfinished in begun:
            unfinished.sync()
        synchronised()
        for unfinished, (path, content) in zip(tuple(begun), files, strict=True):
            if not unfinished.name(path):
                # It was taken for a leftover: this process was stopped for a minute in the middle of this. Or the
                # folder is gone: then this says so.
                again = _Unfinished(path, mode)
                begun.append(again)
                again.fill(content)
                again.sync()
                os.rename(again.path, path)
    except BaseException:
        for unfinished in begun:
            unfinished.drop()
        raise


class _Unfinished:
    """A file without its name, in the folder where it will have it."""

    __slots__ = ("_descriptor", "path")

    def __init__(self, path: str, mode: int) -> None:
        self.path = f"{os.path.dirname(path)}/{_PREFIX}{os.urandom(16).hex()}{_SUFFIX}"
        self._descriptor = os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, mode)

    def fill(self, content: bytes) -> None:
        rest = memoryview(content)
        while rest:
            rest = rest[os.write(self._descriptor, rest) :]

    def sync(self) -> None:
        sync(self._descriptor)
        self._close()

    def name(self, path: str) -> bool:
        """Give it its name; False where it is gone."""
        try:
            os.rename(self.path, path)
        except FileNotFoundError:
            return False
        return True

    def drop(self) -> None:
        """Remove it, unless it has its name."""
        self._close()
        try:
            os.unlink(self.path)
        except OSError:
            return

    def _close(self) -> None:
        if self._descriptor >= 0:
            descriptor, self._descriptor = self._descriptor, -1
            os.close(descriptor)


def _nothing() -> None:
    """Stand in where nothing has to be waited for."""
