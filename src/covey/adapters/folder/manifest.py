"""The manifest: a file to which our processes and foreign programs append lines. A line is complete unless its writer
was killed."""

import os
import stat
from collections.abc import Sequence
from typing import BinaryIO, Final, NamedTuple

from covey.adapters.folder.locks import LockFile

LOCK: Final = ".lock"
"""The suffix of the lock file's name."""
OWN_LOCK: Final = "manifest.lock"
_FLAGS: Final = os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_CHUNK: Final = 64 * 1024
_LONGEST: Final = 1024 * 1024
"""A longer line is none of ours, and is not kept in memory."""


class _Tail(NamedTuple):
    """The result of a search for lines at the end of the manifest."""

    missing: Sequence[bytes]
    """The lines that are missing, in order."""
    after: int
    """The offset of the end of the last line that was found."""
    fragment: bytes
    """The bytes after the last end of a line."""


class Manifest:
    """The manifest at a path. For one process at a time."""

    def __init__(self, path: str, own_lock: str) -> None:
        """`own_lock` is a private path, from which the lock file is made."""
        self._path = path
        self._lock = LockFile(f"{path}{LOCK}", own_lock)

    def size(self) -> int:
        """Return the size of the manifest in bytes; 0 if there is none."""
        try:
            return os.stat(self._path, follow_symlinks=False).st_size
        except OSError:
            return 0

    def append(self, lines: Sequence[str], after: int) -> int | None:
        """Append the lines that are not in the manifest after the offset `after`, and return the offset after which
        later lines are. Return None if another program holds the lock for too long."""
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
    """Tell whether there is something at the path to which lines can't be appended."""
    if not os.path.lexists(path):
        return False
    return os.path.islink(path) or not os.path.isfile(path) or not os.access(path, os.R_OK | os.W_OK)


def torn_lines(path: str) -> int:
    """Return the number of lines of a manifest that can't be read."""
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
    if status.st_size != after:  # otherwise nothing follows
        with open(descriptor, "rb", buffering=0, closefd=False) as file:
            tail = _tail(file, after, wanted)
    if not tail.missing:
        return tail.after
    text = b"\n".join([*tail.missing, b""])
    if tail.fragment:
        # A torn line of ours is the beginning of the text to write, and is continued; any other line is ended.
        is_begun = text.startswith(tail.fragment)
        text = text[len(tail.fragment) :] if is_begun else b"\n" + text
    _write(descriptor, text)
    return status.st_size + len(text)  # too small if other programs write now: then the next search reads more


def _tail(file: BinaryIO, start: int, wanted: Sequence[bytes]) -> _Tail:
    """Search for lines from the offset `start` on, and stop when all are found."""
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
    """Write the whole text. If the disk fills up in between, the beginning of the text is in the file."""
    rest = memoryview(text)
    while rest:
        rest = rest[os.write(descriptor, rest) :]
