"""HTTP servers: their addresses and limits, the refusals over a limit, and the signatures of webhook requests.

A signature proves that a request comes from an owner of the secret, unchanged and recent. It covers everything that
gives a request its meaning, so that no part can be exchanged on the way. It also covers the direction: both sides sign
with one secret, and a post must not be replayed as a person's message.
"""

import hmac
import json
from collections.abc import Mapping
from datetime import datetime, timedelta
from enum import StrEnum
from hashlib import sha256
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


class HttpRefusal(NamedTuple):
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


NO_ROOM: Final = HttpRefusal(
    HTTPStatus.SERVICE_UNAVAILABLE, "too-many-connections", "there are too many connections; try again later"
)
TOO_SLOW: Final = HttpRefusal(
    HTTPStatus.REQUEST_TIMEOUT, "request-timeout", "the request did not arrive in time; send it in one go"
)
TOKEN_BUSY: Final = HttpRefusal(
    HTTPStatus.TOO_MANY_REQUESTS,
    "too-many-requests",
    "the token has too many requests and streams open; let some of them end",
)
TOO_MANY_SESSIONS: Final = HttpRefusal(
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


VERSION: Final = "v1"
"""The version of the signed format. Another format gets another version."""

MAX_SKEW: Final = timedelta(minutes=5)
"""The largest difference between the timestamp and the clock. An older request is refused."""


class SignatureDirection(StrEnum):
    POSTED = "posted"
    """From a space to people."""
    SAID = "said"
    """From people to a space."""


class SignedFields(NamedTuple):
    """The signed fields of a request, as the request has them."""

    direction: SignatureDirection
    method: str
    target: str
    """The path with the query."""
    timestamp: str
    """X-Covey-Timestamp: seconds since 1970."""
    key: str
    """Idempotency-Key; empty if there is none."""
    content_type: str
    """Content-Type; empty if there is none."""
    body: bytes


def signature(secret: str, signed: SignedFields) -> str:
    """Return the value of X-Covey-Signature: the version, and the HMAC-SHA256 in hex over the signed fields, one a
    line."""
    lines = "\n".join((VERSION, *signed[:-1], sha256(signed.body).hexdigest()))
    return f"{VERSION}={hmac.new(secret.encode(), lines.encode(), sha256).hexdigest()}"


def is_signed(secret: str, signed: SignedFields, given: str, now: datetime) -> bool:
    """Tell whether a request was signed with the secret, and its timestamp is recent."""
    timestamp = signed.timestamp
    if not (timestamp.isascii() and timestamp.isdigit() and len(timestamp) <= 12):
        return False
    apart = abs(now.timestamp() - int(timestamp))
    return apart <= MAX_SKEW.total_seconds() and is_same(signature(secret, signed), given)


def is_same(expected: str, given: str) -> bool:
    """Compare two secrets in constant time."""
    return hmac.compare_digest(expected.encode(), given.encode(errors="replace"))
