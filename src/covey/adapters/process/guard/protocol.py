"""The protocol between a guardian and the owner of a run: frames, the order, and the guardian's connection.

A frame is a kind, a length and the content. The order has the run's folder and limits, and the call, which the guardian
forwards unread. The guardian's end of the connection never blocks, and drops output at a bound.
"""

import json
import select
import socket
import struct
import time
from collections.abc import Iterator
from typing import Any, Final, NamedTuple

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


_PIECE: Final = 65536


class ExecCall(NamedTuple):
    """The arguments of the program's `exec`."""

    cwd: bytes
    argv: tuple[bytes, ...]
    env: dict[bytes, bytes]

    def written(self) -> bytes:
        """Serialize the call; none of its texts has a zero byte."""
        env = [name + b"=" + value for name, value in self.env.items()]
        return b"\0".join([b"%d" % len(self.argv), self.cwd, *self.argv, *env])


def read_call(content: bytes) -> ExecCall:
    """Parse a serialized call."""
    count, cwd, *texts = content.split(b"\0")
    env: dict[bytes, bytes] = {}
    for text in texts[int(count) :]:
        name, _, value = text.partition(b"=")
        env[name] = value
    return ExecCall(cwd, tuple(texts[: int(count)]), env)


class Order(NamedTuple):
    """The part of an order that the guardian itself needs."""

    folder: str
    run: str
    output_limit: int
    time_limit: float | None
    grace: float
    has_input: bool

    def written(self) -> bytes:
        """Serialize the order. File names need not be UTF-8; JSON carries their surrogate escapes."""
        return json.dumps(self._asdict()).encode()


def read_order(content: bytes) -> Order:
    """Parse a serialized order."""
    values: dict[str, Any] = json.loads(content)
    return Order(**values)


class ReceivedOrder(NamedTuple):
    """A complete order with its call and input."""

    order: Order
    call: bytes
    stdin: bytes | None


def receive(connection: socket.socket, frames: Frames) -> ReceivedOrder | None:
    """Read an order from a connection; return None if the connection ends before the order is complete."""
    parts: dict[bytes, bytes] = {}
    while piece := connection.recv(_PIECE):
        parts.update(frames.feed(piece))
        if ORDER in parts and CALL in parts:
            order = read_order(parts[ORDER])
            if not order.has_input or STDIN in parts:
                return ReceivedOrder(order, parts[CALL], parts.get(STDIN))
    return None


WAITING_LIMIT: Final = 1024 * 1024
"""Limit of the bytes that are buffered for an owner that does not read."""
RATE: Final = 1024 * 1024
"""Limit of the output that is forwarded in a second. More than that would keep the owner from all other work."""


class OwnerConnection:
    """Both directions of the connection, without blocking."""

    def __init__(self, connection: socket.socket, frames: Frames) -> None:
        self._connection = connection
        self._frames = frames
        self._waiting = bytearray()
        self._second = 0.0
        self._shown = 0
        self._gaps: set[bytes] = set()
        connection.setblocking(False)

    def fileno(self) -> int:
        return self._connection.fileno()

    @property
    def has_waiting(self) -> bool:
        return bool(self._waiting)

    def show(self, kind: bytes, piece: bytes) -> None:
        """Forward output, or drop it and mark a gap."""
        now = time.monotonic()
        if now - self._second >= 1.0:
            self._second, self._shown = now, 0
        if self._shown + len(piece) > RATE or len(self._waiting) + len(piece) > WAITING_LIMIT:
            if kind not in self._gaps:
                self._gaps.add(kind)
                self.tell(GAP, kind)
            return
        self._gaps.discard(kind)
        self._shown += len(piece)
        self.tell(kind, piece)

    def tell(self, kind: bytes, content: bytes = b"") -> None:
        """Queue a frame, and send as much as the socket takes."""
        self._waiting += frame(kind, content)
        self.flush()

    def flush(self) -> None:
        """Send as much as the socket takes now."""
        try:
            while self._waiting:
                del self._waiting[: self._connection.send(self._waiting)]
        except BlockingIOError:
            return
        except OSError:  # the owner is gone; `hear` reports that too
            self._waiting.clear()

    def hear(self) -> list[tuple[bytes, bytes]] | None:
        """Return the owner's complete frames, or None if the owner is gone."""
        try:
            piece = self._connection.recv(_PIECE)
        except BlockingIOError:
            return []
        except OSError:
            return None
        return [*self._frames.feed(piece)] if piece else None

    def finish(self, limit: float) -> None:
        """Wait up to `limit` seconds until the buffer is sent."""
        until = time.monotonic() + limit
        poll = select.poll()
        poll.register(self._connection, select.POLLOUT)
        while self._waiting and (left := until - time.monotonic()) > 0:
            poll.poll(left * 1000)
            self.flush()
