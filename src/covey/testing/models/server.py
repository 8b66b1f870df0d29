"""The server: a thread for each connection, on loopback, and all of them gone when it closes."""

import socket
import sys
from socketserver import ThreadingTCPServer
from threading import Event, Lock, Thread
from typing import Any, Final

from covey.testing.models.desk import Desk
from covey.testing.models.gate import Gate
from covey.testing.models.handler import Handler

_LOOK: Final = 0.02
"""So many seconds pass at most until a server notices that it is to stop."""


class ModelServer(ThreadingTCPServer):
    """Serves the desk from the moment it is made."""

    request_queue_size = 128

    def __init__(self, desk: Desk) -> None:
        self.desk = desk
        self._lock = Lock()
        self._connections: set[socket.socket] = set()
        self._gates: set[Gate] = set()
        self._closing = Event()
        super().__init__(("127.0.0.1", 0), Handler)
        self._thread = Thread(target=self.serve_forever, args=(_LOOK,), name="scripted-model")
        self._thread.start()

    @property
    def port(self) -> int:
        return int(self.server_address[1])

    def close(self) -> None:
        """End every connection, and return when all threads are gone."""
        self.shutdown()
        self._thread.join()
        with self._lock:
            self._closing.set()
            for gate in self._gates:
                gate.abandon()
            for connection in self._connections:
                _end(connection)
        self.server_close()

    def opened(self, connection: socket.socket) -> None:
        with self._lock:
            self._connections.add(connection)
            if self._closing.is_set():
                _end(connection)

    def ended(self, connection: socket.socket) -> None:
        with self._lock:
            self._connections.discard(connection)

    def pass_through(self, gate: Gate | None) -> bool:
        if gate is None:
            return True
        with self._lock:
            self._gates.add(gate)
            if self._closing.is_set():
                return False
        return gate.wait()

    def wait_for_close(self) -> None:
        self._closing.wait()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Keep what went wrong in a connection's thread: the model raises it when it closes."""
        error = sys.exception()
        if isinstance(error, Exception):
            self.desk.player.failed(error)


def _end(connection: socket.socket) -> None:
    try:
        connection.shutdown(socket.SHUT_RDWR)
    except OSError:
        # The client was faster.
        return
