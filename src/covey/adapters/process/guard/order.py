"""What a guardian is told: the call, which it passes on as it is, and the run's folder and limits."""

import json
import socket
from typing import Any, Final, NamedTuple

from covey.adapters.process.guard.frames import CALL, ORDER, STDIN, Frames

_PIECE: Final = 65536


class Call(NamedTuple):
    """What the program's process becomes."""

    cwd: bytes
    argv: tuple[bytes, ...]
    env: dict[bytes, bytes]

    def written(self) -> bytes:
        """Return it as bytes; none of its texts has a zero byte."""
        env = [name + b"=" + value for name, value in self.env.items()]
        return b"\0".join([b"%d" % len(self.argv), self.cwd, *self.argv, *env])


def read_call(content: bytes) -> Call:
    """Return a call as it was written."""
    count, cwd, *texts = content.split(b"\0")
    env: dict[bytes, bytes] = {}
    for text in texts[int(count) :]:
        name, _, value = text.partition(b"=")
        env[name] = value
    return Call(cwd, tuple(texts[: int(count)]), env)


class Order(NamedTuple):
    """What the guardian itself has to know."""

    folder: str
    run: str
    output_limit: int
    time_limit: float | None
    grace: float
    has_input: bool

    def written(self) -> bytes:
        """Return it as bytes. Names of files need not be UTF-8; JSON carries also what they are then."""
        return json.dumps(self._asdict()).encode()


def read_order(content: bytes) -> Order:
    """Return an order as it was written."""
    values: dict[str, Any] = json.loads(content)
    return Order(**values)


class Received(NamedTuple):
    """A whole order."""

    order: Order
    call: bytes
    stdin: bytes | None


def receive(connection: socket.socket, frames: Frames) -> Received | None:
    """Return what comes first on a connection, or None where that ends before it is whole."""
    parts: dict[bytes, bytes] = {}
    while piece := connection.recv(_PIECE):
        parts.update(frames.feed(piece))
        if ORDER in parts and CALL in parts:
            order = read_order(parts[ORDER])
            if not order.has_input or STDIN in parts:
                return Received(order, parts[CALL], parts.get(STDIN))
    return None
