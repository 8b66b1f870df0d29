"""The order for a guardian: the call, which it forwards unread, and the run's folder and limits."""

import json
import socket
from typing import Any, Final, NamedTuple

from covey.adapters.process.guard.frames import CALL, ORDER, STDIN, Frames

_PIECE: Final = 65536


class Call(NamedTuple):
    """The arguments of the program's `exec`."""

    cwd: bytes
    argv: tuple[bytes, ...]
    env: dict[bytes, bytes]

    def written(self) -> bytes:
        """Serialize the call; none of its texts has a zero byte."""
        env = [name + b"=" + value for name, value in self.env.items()]
        return b"\0".join([b"%d" % len(self.argv), self.cwd, *self.argv, *env])


def read_call(content: bytes) -> Call:
    """Parse a serialized call."""
    count, cwd, *texts = content.split(b"\0")
    env: dict[bytes, bytes] = {}
    for text in texts[int(count) :]:
        name, _, value = text.partition(b"=")
        env[name] = value
    return Call(cwd, tuple(texts[: int(count)]), env)


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


class Received(NamedTuple):
    """A complete order with its call and input."""

    order: Order
    call: bytes
    stdin: bytes | None


def receive(connection: socket.socket, frames: Frames) -> Received | None:
    """Read an order from a connection; return None if the connection ends before the order is complete."""
    parts: dict[bytes, bytes] = {}
    while piece := connection.recv(_PIECE):
        parts.update(frames.feed(piece))
        if ORDER in parts and CALL in parts:
            order = read_order(parts[ORDER])
            if not order.has_input or STDIN in parts:
                return Received(order, parts[CALL], parts.get(STDIN))
    return None
