"""The turn: a lock that admits one visitor at a time among all threads and processes, with a record of the visitor's
intent."""

import os
from typing import Final
from zlib import crc32

from covey.core.errors import StoreBusy
from covey.disk.file_lock import FileLock
from covey.disk.lining_up import take_within

_CHUNK: Final = 4096


class FolderTurn:
    """A held turn. Its intent record survives a visitor that is killed, and the next visitor finds the record. A record
    costs a single write, whereas a database would need several."""

    def __init__(self, lock: FileLock) -> None:
        self._lock = lock
        self._is_written = False

    def write(self, intent: bytes) -> None:
        """Record an intent, on one line, in place of the previous record."""
        self._is_written = True
        text = memoryview(b"%08x%s\n" % (crc32(intent), intent))
        place = 0
        while place < len(text):
            place += os.pwrite(self._lock.descriptor, text[place:], place)

    def read(self) -> bytes | None:
        """Return the recorded intent; None if it was cleared, or if its writer did not complete it."""
        if os.pread(self._lock.descriptor, 1, 0) in (b"", b"\n"):
            return None
        text = b""
        while b"\n" not in text and (chunk := os.pread(self._lock.descriptor, _CHUNK, len(text))):
            text += chunk
        line, end, _ = text.partition(b"\n")
        is_whole = bool(end) and line[:8] == b"%08x" % crc32(line[8:])
        self._is_written = True
        return line[8:] if is_whole else None

    def clear(self) -> None:
        """Clear the record, because the intent was carried out."""
        if self._is_written:
            os.pwrite(self._lock.descriptor, b"\n", 0)
            self._is_written = False

    def end(self) -> None:
        self._lock.close()


def take_turn(path: str, limit_s: float) -> FolderTurn:
    """Wait for the turn. Raise StoreBusy after `limit_s` seconds."""
    lock = take_within(lambda: FileLock(path, os.O_NOFOLLOW), limit_s)
    if lock is None:
        raise StoreBusy(path, limit_s)
    return FolderTurn(lock)
