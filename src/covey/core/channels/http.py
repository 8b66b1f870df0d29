"""The address of an HTTP server: HOST:PORT, on the loopback interface by default."""

import json
from collections.abc import Mapping
from http import HTTPStatus
from typing import Final, NamedTuple

from covey.core.errors import Invalid
from covey.core.json import Json, JsonObject

LOOPBACK: Final = ("127.0.0.1", "localhost", "::1")
USUAL_PORT: Final = 8677
LAST_PORT: Final = 65_535


class HttpAddress(NamedTuple):
    host: str = LOOPBACK[0]
    port: int = USUAL_PORT
    """0 for any free port."""

    @property
    def is_loopback(self) -> bool:
        return self.host in LOOPBACK

    def __str__(self) -> str:
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"


def parse_http_address(text: str) -> HttpAddress:
    """Parse an address: HOST:PORT, a port alone, or a host alone."""
    if text.isdecimal():
        return HttpAddress(port=_port(text, text))
    host, colon, port = text.rpartition(":")
    if not colon or text.endswith("]"):
        host, port = text, str(USUAL_PORT)
    host = host.removeprefix("[").removesuffix("]") or LOOPBACK[0]
    if any(letter.isspace() or letter in "/@" for letter in host):
        raise Invalid("address", text, "use HOST:PORT, such as 127.0.0.1:8677")
    return HttpAddress(host, _port(port, text))


def _port(port: str, text: str) -> int:
    if not port.isdecimal() or int(port) > LAST_PORT:
        raise Invalid("address", text, "use HOST:PORT, such as 127.0.0.1:8677")
    return int(port)


class HttpLimits(NamedTuple):
    connections: int = 256
    """The number of connections that are served. As many again get a refusal; further ones are closed unread."""
    per_token: int = 64
    """The number of concurrent requests of one token, open streams included."""
    sessions: int = 100
    """The number of sessions of one token. A session lasts for a while after its last request."""
    request_s: float = 20.0
    """The time in seconds from the first byte of a request to its last."""


LINGER_S: Final = 1.0
"""The time in seconds that a surplus connection may take to send something before it is refused."""


class Refusal(NamedTuple):
    """The response to a request over a limit."""

    status: HTTPStatus
    code: str
    message: str

    @property
    def document(self) -> JsonObject:
        return {"error": {"code": self.code, "message": self.message}}

    def response(self) -> bytes:
        """Return the bytes of the response, which closes the connection."""
        return json_answer(self.status, self.document)


def json_answer(status: HTTPStatus, document: Mapping[str, Json]) -> bytes:
    """Return the bytes of a JSON response that closes the connection."""
    body = json.dumps(document).encode()
    head = (
        f"HTTP/1.1 {status.value} {status.phrase}\r\n"
        f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\nConnection: close\r\n\r\n"
    )
    return head.encode() + body


NO_ROOM: Final = Refusal(
    HTTPStatus.SERVICE_UNAVAILABLE, "too-many-connections", "there are too many connections; try again later"
)
TOO_SLOW: Final = Refusal(
    HTTPStatus.REQUEST_TIMEOUT, "request-timeout", "the request did not come in in time; send it in one go"
)
TOKEN_BUSY: Final = Refusal(
    HTTPStatus.TOO_MANY_REQUESTS,
    "too-many-requests",
    "the token has too many requests and streams open; let some of them end",
)
TOO_MANY_SESSIONS: Final = Refusal(
    HTTPStatus.TOO_MANY_REQUESTS,
    "too-many-sessions",
    "the token has too many sessions open; end one (DELETE), or use one of them",
)


def check_limits(limits: HttpLimits) -> HttpLimits:
    """Return the limits. Raise Invalid if one is not positive."""
    for name, value in zip(HttpLimits._fields, limits, strict=True):
        if not value > 0:
            raise Invalid(name, value, "use more than 0")
    return limits
