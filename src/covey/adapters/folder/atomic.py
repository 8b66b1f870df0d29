"""Atomic writes: a file gets its name only when its whole content is on the disk, even if the writer is killed.

A file is written under a temporary name that no reader takes for a message, synchronised and renamed. Then its folder
is synchronised. All functions raise OSError. A worker can do other work while its owner waits for the disk.
"""

import os
import time
from collections.abc import Callable, Iterable, Sequence
from typing import Final, Protocol

from covey.disk.files import open_folder, sync, sync_and_close, sync_folder

# No pathlib, tempfile or uuid: short-lived programs write here.


_PREFIX: Final = ".covey-"
_SUFFIX: Final = ".tmp"
LEFTOVER_AGE_S: Final = 60.0
"""An older temporary file was left by a dead writer, or by one that was stopped for so long that it writes the file
again."""
_FILE_MODE: Final = 0o600
_FOLDER_MODE: Final = 0o700
_AT_ONCE: Final = 64
"""The largest number of files that are open at a time."""


def write(path: str, content: bytes, mode: int = _FILE_MODE) -> None:
    """Write a file, or replace the one at `path`. The file is complete and durable when this returns."""
    write_all([(path, content)], mode)


def write_all(files: Sequence[tuple[str, bytes]], mode: int = _FILE_MODE) -> None:
    """Write files in order, each as `write` does. Their folders must exist, and each is synchronised once."""
    name_all(files, _nothing, _nothing, mode)
    sync_folders(os.path.dirname(path) for path, _ in files)


def name_all(
    files: Sequence[tuple[str, bytes]],
    written: Callable[[], None],
    synchronised: Callable[[], None],
    mode: int = _FILE_MODE,
) -> None:
    """Like `write_all`, but do not synchronise the folders. For each group of files, `written` is called when the group
    is written but not yet synchronised, and `synchronised` before its files get their names."""
    for start in range(0, len(files), _AT_ONCE):
        _write_some(files[start : start + _AT_ONCE], written, synchronised, mode)


def move_all(moves: Sequence[tuple[str, str]]) -> None:
    """Move files in order. The moves are durable when this returns. A missing source raises FileNotFoundError; an
    existing target is replaced."""
    try:
        for source, target in moves:
            os.rename(source, target)
    finally:
        # Targets first: after a power cut between the two steps a file is in both folders, and never in none.
        sync_folders([os.path.dirname(target) for _, target in moves])
        sync_folders([os.path.dirname(source) for source, _ in moves])


def make_folders(root: str, *names: str) -> str:
    """Make the folders `names`, each in the one before, under an existing root, and return the path of the last one.
    New folders are durable when this returns."""
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
    """Make the names in the folders survive a power cut. Each folder is synchronised once."""
    for folder in dict.fromkeys(folders):
        sync_folder(folder)


class FolderSync:
    """A deferred synchronisation of folders. `prepare` opens the first folder early, so that `wait` begins without
    delay."""

    def __init__(self, folders: Iterable[str]) -> None:
        self._folders = list(dict.fromkeys(folders))
        self._first = -1

    def prepare(self) -> None:
        """Open the first folder. The caller must call `wait` afterwards in any case, which closes the folder."""
        if self._folders:
            self._first = open_folder(self._folders.pop(0))

    def wait(self) -> None:
        """Block until all folders are on the disk."""
        if self._first >= 0:
            descriptor, self._first = self._first, -1
            sync_and_close(descriptor)
        sync_folders(self._folders)


def is_temporary(name: str) -> bool:
    """Tell whether a name is that of a temporary file of ours."""
    return name.startswith(_PREFIX) and name.endswith(_SUFFIX)


def remove_leftovers(folder: str, names: Iterable[str] | None = None, *, older_than_s: float = LEFTOVER_AGE_S) -> int:
    """Remove the temporary files of dead writers from a folder, and return the number of removed files. `names` are the
    names in the folder, for callers that have listed the folder already. A file that can't be removed stays, and does
    no harm."""
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
    """Return the names of temporary files of dead writers."""
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
    begun: list[_TemporaryFile] = []
    try:
        for path, content in files:
            begun.append(_TemporaryFile(path, mode))
            begun[-1].fill(content)
        written()
        # The kernel has all files by now: one wait for the disk mostly serves the other files too.
        for unfinished in begun:
            unfinished.sync()
        synchronised()
        for unfinished, (path, content) in zip(tuple(begun), files, strict=True):
            if not unfinished.name(path):
                # Another process took the file for a leftover, because this process was stopped for a minute in
                # between. Or the folder is gone: then the second write raises.
                again = _TemporaryFile(path, mode)
                begun.append(again)
                again.fill(content)
                again.sync()
                os.rename(again.path, path)
    except BaseException:
        for unfinished in begun:
            unfinished.drop()
        raise


class _TemporaryFile:
    """A temporary file, in the folder of its final name."""

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
        """Rename the file to its final name; return False if the temporary file is gone."""
        try:
            os.rename(self.path, path)
        except FileNotFoundError:
            return False
        return True

    def drop(self) -> None:
        """Remove the temporary file, unless it was renamed."""
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
    """Do nothing: the callback of callers that wait for nothing else."""


Work = Callable[[], None]
"""A function that waits for the disk, or runs while another thread waits for the disk."""


class BackgroundWorker(Protocol):
    """A worker that runs one function at a time, concurrently with its owner if possible. For one calling thread at a
    time."""

    def begin(self, work: Work) -> None:
        """Start `work`. The previous function has ended when `work` starts."""
        ...

    def end(self) -> None:
        """Block until the function has ended, if one is running, and raise its exception."""
        ...


class CommitGate(Protocol):
    """Commits that have to be on the disk before the folder shows them."""

    def begin(self) -> None:
        """Start waiting for the disk, unless that wait has begun. The caller waits for something else meanwhile."""
        ...

    def end(self) -> None:
        """Block until the commits are on the disk. Raise Unavailable if they can't be written there."""
        ...

    def tell(self) -> None:
        """Send the wake-ups of the commits, unless they were sent. Call this when nothing is left to do but wait."""
        ...


class OpenCommitGate:
    """`CommitGate` for commits that are on the disk already."""

    def begin(self) -> None:
        return

    def end(self) -> None:
        return

    def tell(self) -> None:
        return


class InlineWorker:
    """`BackgroundWorker` in the calling thread."""

    def begin(self, work: Work) -> None:
        work()

    def end(self) -> None:
        return
