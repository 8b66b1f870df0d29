"""The scripted model: a real HTTP server that plays a script to clients of Anthropic and OpenAI."""

import asyncio
import socket
import sys
from concurrent.futures import Future
from socketserver import ThreadingTCPServer
from threading import Event, Lock, Thread
from types import TracebackType
from typing import Any, Final, Self

from covey.testing.models.handler import Handler
from covey.testing.models.provider import ModelService
from covey.testing.models.request import ModelRequest
from covey.testing.models.script import Gate, Script

_LOOK: Final = 0.02
"""The interval in seconds at which the server checks for a stop."""


class ModelServer(ThreadingTCPServer):
    """An HTTP server for one service, which runs from its construction until `close`."""

    request_queue_size = 128

    def __init__(self, service: ModelService) -> None:
        self.service = service
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
        """Keep an error of a connection's thread: the model raises the error when it closes."""
        error = sys.exception()
        if isinstance(error, Exception):
            self.service.player.failed(error)


def _end(connection: socket.socket) -> None:
    try:
        connection.shutdown(socket.SHUT_RDWR)
    except OSError:
        # The client has closed the connection already.
        return


KEY = "scripted-key"
"""The key in `ScriptedModel.environment` if none was given."""


class ScriptedModel:
    """A server that plays a script on loopback while it is open, with `async with` or plain `with`.

    The model answers requests that the providers document as valid, and refuses those that they document as wrong. When
    the model closes, it raises the first error of the script's own code, so that an assertion in a script fails the
    test.
    """

    def __init__(self, script: Script, *, key: str | None = None, refuses_invalid: bool = True) -> None:
        """Create a model. With `key` every other key is refused. Without `refuses_invalid` wrong requests are answered
        too."""
        self._service = ModelService(script, key, refuses_invalid=refuses_invalid)
        self._key = key
        self._server: ModelServer | None = None

    @property
    def url(self) -> str:
        """The base URL for clients of Anthropic."""
        if self._server is None:
            raise RuntimeError("the scripted model is not open: use it in a `with` block")
        return f"http://127.0.0.1:{self._server.port}"

    @property
    def openai_url(self) -> str:
        """The base URL for clients of OpenAI."""
        return f"{self.url}/v1"

    @property
    def environment(self) -> dict[str, str]:
        """The environment variables that direct a program's clients to this model."""
        key = self._key or KEY
        return {
            "ANTHROPIC_BASE_URL": self.url,
            "ANTHROPIC_API_KEY": key,
            "OPENAI_BASE_URL": self.openai_url,
            "OPENAI_API_KEY": key,
        }

    @property
    def requests(self) -> tuple[ModelRequest, ...]:
        """The requests so far, including refused ones."""
        return self._service.log.all()

    @property
    def elsewhere(self) -> tuple[str, ...]:
        """The requests that no API takes, such as `GET /v1/models`. They are refused."""
        return tuple(self._service.elsewhere)

    async def request(self, number: int, limit: float = 5.0) -> ModelRequest:
        """Wait for the request with that number, counted from 1. Raise `TimeoutError` after `limit` seconds."""
        try:
            return await asyncio.wait_for(asyncio.wrap_future(self._service.log.nth(number)), limit)
        except TimeoutError:
            raise self._missed(number, limit) from None

    def wait_for_request(self, number: int, limit: float = 5.0) -> ModelRequest:
        """Like `request`, but block the thread: for code without an event loop."""
        awaited: Future[ModelRequest] = self._service.log.nth(number)
        try:
            return awaited.result(limit)
        except TimeoutError:
            raise self._missed(number, limit) from None

    def _missed(self, number: int, limit: float) -> TimeoutError:
        came = len(self.requests)
        return TimeoutError(f"request {number} did not come within {limit} s; {came} came")

    def __enter__(self) -> Self:
        self._server = ModelServer(self._service)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._server is not None
        self._server.close()
        self._server = None
        if error is None and self._service.player.error is not None:
            raise self._service.player.error

    async def __aenter__(self) -> Self:
        return self.__enter__()

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        # The server's threads may still run the script, and the event loop must not block on them.
        await asyncio.to_thread(self.__exit__, kind, error, trace)
