"""Frames of the protocol between a guardian and the owner of a run: a kind, a length, the content."""

import struct
from collections.abc import Iterator
from typing import Final

ORDER: Final = b"P"
"""To the guardian: the run's folder and limits, as JSON."""
CALL: Final = b"C"
"""To the guardian: the program's working directory, arguments and environment."""
STDIN: Final = b"I"
"""To the guardian: the program's standard input."""
STOP: Final = b"T"
"""To the guardian: terminate the run; the content is the reason."""
KILL: Final = b"K"
"""To the guardian: kill the run at once."""

STARTED: Final = b"S"
"""From the guardian: the program runs; the content has the process ids of the program and the guardian, as JSON."""
REFUSED: Final = b"E"
"""From the guardian: the start failed and nothing has run; the content is the reason, as JSON."""
OUT: Final = b"o"
ERR: Final = b"e"
"""From the guardian: output of the program."""
GAP: Final = b"g"
"""From the guardian: some output was dropped here."""
DONE: Final = b"D"
"""From the guardian: the outcome, as JSON."""

_HEAD: Final = struct.Struct(">cI")


def frame(kind: bytes, content: bytes = b"") -> bytes:
    """Return a frame."""
    return _HEAD.pack(kind, len(content)) + content


class Frames:
    """A parser of frames from a byte stream."""

    def __init__(self) -> None:
        self._bytes = bytearray()

    def feed(self, piece: bytes) -> Iterator[tuple[bytes, bytes]]:
        """Add a piece, and yield the frames that are complete."""
        self._bytes += piece
        while len(self._bytes) >= _HEAD.size:
            kind, length = _HEAD.unpack_from(self._bytes)
            end = _HEAD.size + length
            if len(self._bytes) < end:
                return
            content = bytes(self._bytes[_HEAD.size : end])
            del self._bytes[:end]
            yield kind, content
