"""What a guardian and the owner of a run say to each other on their socket: a kind, a length, the content."""

import struct
from collections.abc import Iterator
from typing import Final

ORDER: Final = b"P"
"""To the guardian: the run's folder and limits, as JSON."""
CALL: Final = b"C"
"""To the guardian: what to run."""
STDIN: Final = b"I"
"""To the guardian: what the program can read."""
STOP: Final = b"T"
"""To the guardian: terminate, and why."""
KILL: Final = b"K"
"""To the guardian: kill at once."""

STARTED: Final = b"S"
"""From the guardian: the program runs; its process and the guardian's own, as JSON."""
REFUSED: Final = b"E"
"""From the guardian: nothing has run, and why, as JSON."""
OUT: Final = b"o"
ERR: Final = b"e"
"""From the guardian: what the program printed."""
GAP: Final = b"g"
"""From the guardian: here the next output is missing."""
DONE: Final = b"D"
"""From the guardian: how it ended, as JSON."""

_HEAD: Final = struct.Struct(">cI")


def frame(kind: bytes, content: bytes = b"") -> bytes:
    """Return a frame."""
    return _HEAD.pack(kind, len(content)) + content


class Frames:
    """Frames out of bytes that come in pieces."""

    def __init__(self) -> None:
        self._bytes = bytearray()

    def feed(self, piece: bytes) -> Iterator[tuple[bytes, bytes]]:
        """Take a piece, and go through the frames that are whole by now."""
        self._bytes += piece
        while len(self._bytes) >= _HEAD.size:
            kind, length = _HEAD.unpack_from(self._bytes)
            end = _HEAD.size + length
            if len(self._bytes) < end:
                return
            content = bytes(self._bytes[_HEAD.size : end])
            del self._bytes[:end]
            yield kind, content
