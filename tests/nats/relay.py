"""A relay to a server that can fall silent, like a network that loses all packets and closes no connection."""

import socket
from collections.abc import Generator
from contextlib import contextmanager, suppress
from threading import Condition, Thread
from typing import Final

from tests.nats.servers import Address

CHUNK: Final = 1 << 16
LIMIT_S: Final = 30.0


class Relay:
    """Forwards the traffic at its address to another address, in both directions, unless it is silent."""

    def __init__(self, to: Address) -> None:
        self._to = to
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.address = Address(*self._listener.getsockname())
        self._changed = Condition()
        self._is_silent = False
        self._is_closed = False
        self._sockets: list[socket.socket] = []
        self.sent = b""
        """The bytes that clients have sent."""
        self._threads = [Thread(target=self._accept, daemon=True)]
        self._threads[0].start()

    def fall_silent(self) -> None:
        """Forward nothing until `speak`. New connections are accepted and hear nothing."""
        self._become(is_silent=True)

    def speak(self) -> None:
        """Forward again, including the traffic that was held back."""
        self._become(is_silent=False)

    def say(self, content: bytes) -> None:
        """Send bytes to all clients as if they came from the server."""
        for near in self._sockets[::2]:
            with suppress(OSError):
                near.sendall(content)

    def close(self) -> None:
        with self._changed:
            self._is_closed = True
            self._changed.notify_all()
        for each in (self._listener, *self._sockets):
            with suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)
            each.close()
        for thread in self._threads:
            thread.join(LIMIT_S)

    def _become(self, *, is_silent: bool) -> None:
        with self._changed:
            self._is_silent = is_silent
            self._changed.notify_all()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                near, _ = self._listener.accept()
                far = socket.create_connection(self._to)
                self._sockets += [near, far]
                for one, other in ((near, far), (far, near)):
                    pump = Thread(target=self._pump, args=(one, other, one is near), daemon=True)
                    self._threads.append(pump)
                    pump.start()

    def _pump(self, one: socket.socket, other: socket.socket, is_from_client: bool) -> None:
        with suppress(OSError):
            while content := one.recv(CHUNK):
                with self._changed:
                    self._changed.wait_for(lambda: self._is_closed or not self._is_silent)
                    self.sent += content if is_from_client else b""
                other.sendall(content)
        for each in (one, other):
            with suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)


@contextmanager
def relay(to: Address) -> Generator[Relay]:
    """Provide a relay to an address."""
    made = Relay(to)
    try:
        yield made
    finally:
        made.close()
