"""Limits of surfaces that listen for HTTP: how many connections they serve, and how long a request may take to come in.

A request that is over a limit is answered with a status and a code that stay the same, as JSON:
`{"error": {"code": "too-many-connections", "message": "…"}}`.
"""

import json
from collections.abc import Mapping
from http import HTTPStatus
from typing import Final, NamedTuple

from covey.core.errors import Invalid
from covey.core.json import Json, JsonObject


class HttpLimits(NamedTuple):
    connections: int = 256
    """In all. As many again are told that there is no room; any more are closed unheard."""
    per_token: int = 64
    """Requests of one token under way at once, open streams included."""
    sessions: int = 100
    """Sessions of one token, which last for a while after their last request."""
    request_s: float = 20.0
    """From the first byte of a request to its last, whatever the pace between them."""


LINGER_S: Final = 1.0
"""How long a connection that there is no room for may take to say something before it is answered."""


class Refusal(NamedTuple):
    """An answer to a request that is over a limit."""

    status: HTTPStatus
    code: str
    message: str

    @property
    def document(self) -> JsonObject:
        return {"error": {"code": self.code, "message": self.message}}

    def response(self) -> bytes:
        """Return the answer as it goes over a connection that ends with it."""
        return json_answer(self.status, self.document)


def json_answer(status: HTTPStatus, document: Mapping[str, Json]) -> bytes:
    """Return an answer of JSON, after which the connection ends."""
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
    """Return limits that can be held; Invalid where one can't."""
    for name, value in zip(HttpLimits._fields, limits, strict=True):
        if not value > 0:
            raise Invalid(name, value, "use more than 0")
    return limits
