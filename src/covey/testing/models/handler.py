"""The HTTP handler: requests read from a connection, and replies written whole or event by event."""

import socket
from http.server import BaseHTTPRequestHandler
from typing import Protocol, cast

from covey.testing.models.dialect import encode
from covey.testing.models.provider import ModelService, Reply
from covey.testing.models.script import Gate, Hang


class Host(Protocol):
    """The interface of the server that a connection needs."""

    service: ModelService

    def opened(self, connection: socket.socket) -> None:
        """Register a connection, to be ended when the server closes."""
        ...

    def ended(self, connection: socket.socket) -> None:
        """Forget a connection."""
        ...

    def pass_through(self, gate: Gate | None) -> bool:
        """Wait until one event may pass. Return False if the server closes."""
        ...

    def wait_for_close(self) -> None:
        """Wait until the server closes."""
        ...


class Handler(BaseHTTPRequestHandler):
    """One connection, kept for many requests."""

    protocol_version = "HTTP/1.1"
    # With Nagle's algorithm every second request on a connection would wait for a delayed acknowledgement.
    disable_nagle_algorithm = True

    @property
    def _host(self) -> Host:
        return cast(Host, self.server)

    def setup(self) -> None:
        super().setup()
        self._host.opened(self.connection)

    def finish(self) -> None:
        self._host.ended(self.connection)
        super().finish()

    def handle(self) -> None:
        try:
            super().handle()
        except ConnectionError:
            # A client may leave at any time.
            self.close_connection = True

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the name is the base class's
        """Do nothing: the service keeps the log of requests."""

    def do_POST(self) -> None:
        headers = {name.lower(): value for name, value in self.headers.items()}
        self._send(self._host.service.receive(self.command, self.path, headers, self._body()))

    do_GET = do_HEAD = do_PUT = do_PATCH = do_DELETE = do_OPTIONS = do_POST  # noqa: N815 - names that http.server calls

    def _body(self) -> bytes:
        if "chunked" not in self.headers.get("transfer-encoding", ""):
            return self.rfile.read(int(self.headers.get("content-length", 0)))
        body = bytearray()
        while size := int(self.rfile.readline().split(b";")[0], 16):
            body += self.rfile.read(size)
            self.rfile.readline()
        while self.rfile.readline().strip():
            pass
        return bytes(body)

    def _send(self, reply: Reply) -> None:
        is_sent = self._send_events(reply) if reply.body is None and reply.events else self._send_body(reply)
        if reply.ends is not None or not is_sent:
            if isinstance(reply.ends, Hang):
                self._host.wait_for_close()
            self.close_connection = True

    def _send_body(self, reply: Reply) -> bool:
        if reply.ends is not None or not self._host.pass_through(reply.gate):
            return False
        body = encode(reply.body).encode(errors="replace")
        self._head(reply, {"content-type": "application/json", "content-length": str(len(body))})
        if self.command != "HEAD":
            self.wfile.write(body)
        return True

    def _send_events(self, reply: Reply) -> bool:
        for number, event in enumerate(reply.events):
            if not self._host.pass_through(reply.gate):
                return False
            if number == 0:
                self._head(reply, {"content-type": "text/event-stream; charset=utf-8", "transfer-encoding": "chunked"})
            data = event.encoded()
            self.wfile.write(b"%x\r\n%b\r\n" % (len(data), data))
        if reply.ends is None:
            self.wfile.write(b"0\r\n\r\n")
        return True

    def _head(self, reply: Reply, more: dict[str, str]) -> None:
        self.send_response(reply.status)
        for name, value in {**reply.headers, **more}.items():
            self.send_header(name, value)
        self.end_headers()
