"""Lines out of what a program prints, for those who read along: bounded in length and in number."""

from collections import deque
from typing import Final

from covey.ports.launcher import LINE_LIMIT, Line, Stream

WAITING_LIMIT: Final = 1024 * 1024
"""How many characters may wait to be read; beyond that the oldest lines are dropped."""


class Waiting:
    """Lines that nobody has read yet."""

    def __init__(self) -> None:
        self._lines: deque[Line] = deque()
        self._size = 0

    def __bool__(self) -> bool:
        return bool(self._lines)

    def add(self, line: Line) -> None:
        self._lines.append(line)
        self._size += len(line.text) + 1
        while self._size > WAITING_LIMIT:
            self.take()

    def take(self) -> Line:
        """Return the oldest."""
        line = self._lines.popleft()
        self._size -= len(line.text) + 1
        return line


class Splitter:
    """One output, which comes in pieces that end anywhere."""

    def __init__(self, stream: Stream, waiting: Waiting) -> None:
        self._stream: Stream = stream
        self._waiting = waiting
        self._rest = b""

    def feed(self, piece: bytes) -> None:
        """Take the next piece."""
        *whole, rest = (self._rest + piece).split(b"\n")
        for line in whole:
            self._add(self._cut(line))
        self._rest = self._cut(rest)

    def flush(self) -> None:
        """Take what is there as a line, though its end has not come."""
        if self._rest:
            self._add(self._rest)
            self._rest = b""

    def _cut(self, line: bytes) -> bytes:
        """Take off and add what is too long for a line; return the rest."""
        while len(line) > LINE_LIMIT:
            end = LINE_LIMIT
            while end > LINE_LIMIT - 4 and line[end] & 0xC0 == 0x80:  # within a character of several bytes
                end -= 1
            self._add(line[:end])
            line = line[end:]
        return line

    def _add(self, line: bytes) -> None:
        self._waiting.add(Line(self._stream, line.removesuffix(b"\r").decode("utf-8", "replace")))
