"""Reading a backup that somebody may have compressed, or made to do harm: within bounds of memory, disk and time."""

import bz2
import gzip
import lzma
import os
from typing import IO, Final, cast

from covey.core.errors import BackupUnusable

MAX_READ: Final = 4 * 1024 * 1024
"""Nothing reads more at once. A header of a tar file that claims to be larger is none of ours."""

FREE_BYTES: Final = 64 * 1024 * 1024
MAX_RATIO: Final = 100
"""A file may unpack to this many times its size, and to `FREE_BYTES` in any case. A database seldom compresses to less
than a twentieth."""

_PACKED: Final = (
    (b"\x1f\x8b", gzip.open),
    (b"BZh", bz2.open),
    (b"\xfd7zXZ\x00", lzma.open),
    (b"\x5d\x00\x00", lzma.open),
)
"""How compressed files begin, and what reads them."""


class Unpacked:
    """The content of a file, unpacked where it is compressed; for reading forwards."""

    def __init__(self, file: str) -> None:
        """Open the file. Anything but a file is BackupUnusable, and what can't be opened OSError."""
        descriptor = os.open(file, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)  # a pipe would be waited for
        self._raw: IO[bytes] = os.fdopen(descriptor, "rb")
        self._file = file
        try:
            if not os.path.isfile(file):
                raise BackupUnusable(file, "it is not a file")
            size = os.fstat(descriptor).st_size
            beginning = self._raw.read(8)
            self._raw.seek(0)
            opener = next((opener for start, opener in _PACKED if beginning.startswith(start)), None)
            self._content = self._raw if opener is None else cast(IO[bytes], opener(self._raw, "rb"))
            self._left = size if opener is None else max(FREE_BYTES, MAX_RATIO * size)
        except BaseException:
            self._raw.close()
            raise
        self._place = 0

    def read(self, size: int = -1) -> bytes:
        """Return the next bytes. More than the bounds allow is BackupUnusable."""
        if not 0 <= size <= MAX_READ:
            raise BackupUnusable(self._file, f"a part of it claims to have {size:,} bytes, which no header has")
        content = self._content.read(size)
        self._left -= len(content)
        self._place += len(content)
        if self._left < 0:
            reason = (
                f"it unpacks to more than {MAX_RATIO} times its size, as no backup does; if it is one all the same,"
                " unpack it yourself and restore the tar file"
            )
            raise BackupUnusable(self._file, reason)
        return content

    def tell(self) -> int:
        return self._place

    def seek(self, place: int, whence: int = os.SEEK_SET) -> int:
        """Go on to a place further on."""
        if whence != os.SEEK_SET or place < self._place:
            raise BackupUnusable(self._file, "its parts are not in the order in which they are read")
        while self._place < place:
            if not self.read(min(place - self._place, MAX_READ)):
                break
        return self._place

    def close(self) -> None:
        self._content.close()
        self._raw.close()
