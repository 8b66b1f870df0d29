"""The manifest: a file to which programs append lines, ours and others', each whole unless its writer was killed."""

import os
import stat
from collections.abc import Sequence
from typing import BinaryIO, Final, NamedTuple

from covey.adapters.folder.lockfile import LockFile

LOCK: Final = ".lock"
"""What is added to the name."""
OWN_LOCK: Final = "manifest.lock"
_FLAGS: Final = os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_CHUNK: Final = 64 * 1024
_LONGEST: Final = 1024 * 1024
"""A line that is longer is none of ours, and is not kept in memory."""


class _Tail(NamedTuple):
    """What stands at the end of the manifest, as far as it concerns some lines that are to be there."""

    missing: Sequence[bytes]
    """Those that are not there, in their order."""
    after: int
    """Where the last one that is there ends."""
    fragment: bytes
    """What stands after the last end of a line."""


class Manifest:
    """For one process at a time."""

    def __init__(self, path: str, own_lock: str) -> None:
        """`own_lock` is a path of ours alone, from which the lock file is made."""
        self._path = path
        self._lock = LockFile(f"{path}{LOCK}", own_lock)

    def size(self) -> int:
        """Return how long it is; 0 where there is none."""
        try:
            return os.stat(self._path, follow_symlinks=False).st_size
        except OSError:
            return 0

    def append(self, lines: Sequence[str], after: int) -> int | None:
        """Add those of the lines that do not stand after `after` already; return from where on the next ones may stand.
        None where somebody else holds the lock for too long."""
        wanted = [line.encode() for line in lines]
        with self._lock.held() as is_ours:
            if not is_ours:
                return None
            descriptor = os.open(self._path, _FLAGS, 0o600)
            try:
                return _append(descriptor, wanted, after)
            finally:
                os.close(descriptor)


def is_unusable(path: str) -> bool:
    """Tell whether something stands in the place of a manifest that lines can't be added to."""
    if not os.path.lexists(path):
        return False
    return os.path.islink(path) or not os.path.isfile(path) or not os.access(path, os.R_OK | os.W_OK)


def torn_lines(path: str) -> int:
    """Return how many lines of a manifest can't be read."""
    import json

    count = 0
    try:
        with open(path, "rb") as file:
            for line in file:
                try:
                    is_line = isinstance(json.loads(line), dict)
                except (ValueError, RecursionError):
                    is_line = not line.strip()
                count += not is_line
    except OSError:
        return 0
    return count


def _append(descriptor: int, wanted: Sequence[bytes], after: int) -> int:
    status = os.fstat(descriptor)
    if not stat.S_ISREG(status.st_mode):
        raise OSError(0, "it is no regular file")
    tail = _Tail(wanted, after, b"")
    if status.st_size != after:  # else nothing stands there
        with open(descriptor, "rb", buffering=0, closefd=False) as file:
            tail = _tail(file, after, wanted)
    if not tail.missing:
        return tail.after
    text = b"\n".join([*tail.missing, b""])
    if tail.fragment:
        # A torn line of ours is the beginning of the next one; any other is ended.
        is_begun = text.startswith(tail.fragment)
        text = text[len(tail.fragment) :] if is_begun else b"\n" + text
    _write(descriptor, text)
    return status.st_size + len(text)  # where others write at the same time it ends later: then more is looked through


def _tail(file: BinaryIO, start: int, wanted: Sequence[bytes]) -> _Tail:
    """Look for lines in what stands from `start` on; no further than to the last of them."""
    missing = dict.fromkeys(wanted)
    after = start
    if not missing:
        return _Tail((), after, b"")
    file.seek(start)
    place, fragment = start, b""
    while chunk := file.read(_CHUNK):
        *ended, fragment = (fragment + chunk).split(b"\n")
        for line in ended:
            place += len(line) + 1
            if line in missing:
                del missing[line]
                after = place
        if not missing:
            break
        if len(fragment) > _LONGEST:
            place, fragment = place + len(fragment) - 1, b"\0"
    return _Tail(tuple(missing), after, fragment)


def _write(descriptor: int, text: bytes) -> None:
    """Write in one go. Where the disk is full in the middle, what is there is the beginning of what was to come."""
    rest = memoryview(text)
    while rest:
        rest = rest[os.write(descriptor, rest) :]
