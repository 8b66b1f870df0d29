"""Blobs as files: `<folder>/blobs/ab/cdef…`, named by the sha256 of their content."""

import errno
import os
import re
import time
from collections.abc import Generator, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import Final

from covey.core.errors import BlobMissing, StoreFull, StoreReadOnly, Unavailable
from covey.core.store_url import BLOBS_FOLDER
from covey.disk.file_lock import FileLock
from covey.disk.files import sync, sync_folder
from covey.ports.blobs import KEPT_S

_FRESH_S: Final = 60.0
"""A file that was touched within this time is not touched again."""
_NO_RIGHT: Final = (errno.EROFS, errno.EACCES, errno.EPERM)


@contextmanager
def sharing(folder: str) -> Generator[None]:
    """Hold the shared lock of the folder, so that no process removes a blob. Without the right to make the lock file,
    no lock is held."""
    lock = _open(folder)
    try:
        if lock is not None:
            lock.take(shared=True)
        yield
    finally:
        if lock is not None:
            lock.close()


def remove_unused(folder: str, path: str) -> bool:
    """Remove a file that was not used lately, unless another holder shares the lock; tell whether the file is gone."""
    lock = _open(folder)
    if lock is None:
        return False
    try:
        if not lock.take_at_once() or _age(path) < KEPT_S + _FRESH_S:
            return False
        os.unlink(path)
    except FileNotFoundError:
        return True
    finally:
        lock.close()
    return True


def touch(path: str) -> None:
    """Record that a file is used now. A missing permission is ignored: without it, the file can't be removed either."""
    if _age(path) < _FRESH_S:
        return
    try:
        os.utime(path)
    except OSError as error:
        if error.errno not in _NO_RIGHT:
            raise


def _age(path: str) -> float:
    """Return the seconds since the last use of a file; 0 if its time is in the future."""
    return max(0.0, time.time() - os.stat(path).st_mtime)


def _open(folder: str) -> FileLock | None:
    """Return the lock; None without the right to make its file."""
    try:
        try:
            return FileLock(f"{folder}/lock")
        except FileNotFoundError:
            os.makedirs(folder, mode=0o700, exist_ok=True)
            return FileLock(f"{folder}/lock")
    except OSError as error:
        if error.errno not in _NO_RIGHT:
            raise
        return None


_DIGEST: Final = re.compile(r"[0-9a-f]{64}")
_FOLDER_CHARS: Final = 2
"""The number of characters of a digest that name the folder of its file."""
_LEFTOVER_AGE_S: Final = 3600.0
_CHUNK: Final = 1024 * 1024
_NO_ROOM: Final = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


class BlobFiles:
    """`Blobs` in a folder that several processes may share.

    A file appears under its name complete and durable, or not at all. The methods block and never suspend: they suit
    programs without an event loop, and snapshots of small files, which cost little beside a commit.
    """

    def __init__(self, folder: str) -> None:
        self._folder = f"{folder}/{BLOBS_FOLDER}"
        self._unfinished = f"{self._folder}/tmp"
        self._prepared: set[str] = set()
        """Folders that this object has made durable."""

    async def put(self, content: bytes) -> str:
        digest = _sha256(content).hexdigest()
        path = self._path(digest)
        try:
            self._prepare(os.path.dirname(path))
            with sharing(self._folder):
                self._put(path, digest, content)
        except OSError as error:
            raise _unwritable(error, path) from error
        return digest

    async def get(self, digest: str) -> bytes:
        if not _DIGEST.fullmatch(digest):
            raise BlobMissing(digest[:64])
        path = self._path(digest)
        try:
            content = _read(path)
        except OSError as error:
            raise _unreadable(error, path) from error
        if content is None or _sha256(content).hexdigest() != digest:
            raise BlobMissing(digest)
        return content

    async def has(self, digest: str) -> bool:
        """Tell whether `get` would return the content. The file is read, because a damaged file counts as missing."""
        if not _DIGEST.fullmatch(digest):
            return False
        path = self._path(digest)
        try:
            if not _is_there(path):
                return False
            with sharing(self._folder):
                if is_whole := _is_whole(path, digest):
                    touch(path)
            return is_whole
        except OSError as error:
            raise _unreadable(error, path) from error

    async def digests(self) -> Sequence[str]:
        try:
            folders = sorted(name for name in os.listdir(self._folder) if len(name) == _FOLDER_CHARS)
            found = [f"{name}{rest}" for name in folders for rest in sorted(os.listdir(f"{self._folder}/{name}"))]
        except FileNotFoundError:
            return ()
        except OSError as error:
            raise _unreadable(error, self._folder) from error
        return [digest for digest in found if _DIGEST.fullmatch(digest)]

    async def remove(self, digest: str) -> bool:
        if not _DIGEST.fullmatch(digest):
            return True
        path = self._path(digest)
        try:
            return not _is_there(path) or remove_unused(self._folder, path)
        except OSError as error:
            raise _unwritable(error, path) from error

    def drop(self, digest: str) -> None:
        """Remove the content at once: for a folder that is only a cache of another store."""
        if _DIGEST.fullmatch(digest):
            _remove(self._path(digest))

    def hold(self) -> AbstractContextManager[None]:
        return sharing(self._folder)

    def _path(self, digest: str) -> str:
        return f"{self._folder}/{digest[:_FOLDER_CHARS]}/{digest[_FOLDER_CHARS:]}"

    def _put(self, path: str, digest: str, content: bytes) -> None:
        folder = os.path.dirname(path)
        if _is_whole(path, digest):
            touch(path)
        else:
            try:
                self._write(path, content)
            except FileNotFoundError:  # another program removed the folders: make them again
                self._prepared.clear()
                self._prepare(folder)
                self._write(path, content)
        # Also if the file existed: its writer may not have synchronised the folder yet.
        self._prepare(folder)
        sync_folder(folder)

    def _prepare(self, folder: str) -> None:
        """Make the folder and those above it, and make them survive a power cut."""
        if folder in self._prepared:
            return
        if not self._prepared:
            os.makedirs(self._folder, mode=0o700, exist_ok=True)
            os.makedirs(self._unfinished, mode=0o700, exist_ok=True)
            self._sweep()
            sync_folder(os.path.dirname(self._folder))
        os.makedirs(folder, mode=0o700, exist_ok=True)
        sync_folder(self._folder)
        self._prepared.add(folder)

    def _write(self, path: str, content: bytes) -> None:
        unfinished = f"{self._unfinished}/{os.urandom(16).hex()}"
        descriptor = os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        try:
            try:
                rest = memoryview(content)
                while rest:
                    rest = rest[os.write(descriptor, rest) :]
                sync(descriptor)
            finally:
                os.close(descriptor)
            os.rename(unfinished, path)
        except BaseException:
            _remove(unfinished)
            raise

    def _sweep(self) -> None:
        """Remove the leftovers of killed writers. A live writer keeps writing, so that its file is never that old."""
        oldest = time.time() - _LEFTOVER_AGE_S
        for name in os.listdir(self._unfinished):
            leftover = f"{self._unfinished}/{name}"
            try:
                if os.stat(leftover).st_mtime < oldest:
                    os.unlink(leftover)
            except OSError:
                continue  # another process removed it, or it can't be removed and does no harm


def _sha256(content: bytes = b""):
    from hashlib import sha256  # imported late because it loads OpenSSL, and most messages carry no file

    return sha256(content)


def _read(path: str) -> bytes | None:
    try:
        with open(path, "rb") as file:
            return file.read()
    except (FileNotFoundError, NotADirectoryError, IsADirectoryError):
        return None


def _is_there(path: str) -> bool:
    try:
        os.stat(path)
    except (FileNotFoundError, NotADirectoryError):
        return False
    return True


def _is_whole(path: str, digest: str) -> bool:
    try:
        with open(path, "rb") as file:
            found = _sha256()
            while chunk := file.read(_CHUNK):
                found.update(chunk)
    except (FileNotFoundError, NotADirectoryError, IsADirectoryError):
        return False
    return found.hexdigest() == digest


def _remove(path: str) -> None:
    try:
        os.unlink(path)
    except OSError:
        return


def _unwritable(error: OSError, path: str) -> Unavailable:
    if error.errno in _NO_ROOM:
        return StoreFull(path)
    if error.errno in _NO_RIGHT:
        return StoreReadOnly(path, error.strerror or str(error))
    return Unavailable(f"{path} can't be written: {error.strerror}", path=path)


def _unreadable(error: OSError, path: str) -> Unavailable:
    return Unavailable(f"{path} can't be read: {error.strerror}", path=path)
