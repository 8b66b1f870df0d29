"""Limits of the HTTP server: a timeout for incoming requests, and quotas for each token.

uvicorn ends only connections that are idle between requests: a client that sends half a request would hold its
connection for ever. The protocol here sets a timeout from the first byte of each request to its last.
"""

import asyncio
from collections import Counter
from collections.abc import Callable
from http import HTTPMethod
from typing import Final

import h11
from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser, authorization_context
from mcp.server.streamable_http import MCP_SESSION_ID_HEADER
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.shared.inbound import MCP_PROTOCOL_VERSION_HEADER
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol

from covey.core.http import LINGER_S, NO_ROOM, TOKEN_BUSY, TOO_MANY_SESSIONS, TOO_SLOW, HttpLimits, HttpRefusal

_UNANSWERED: Final = (h11.IDLE, h11.SEND_RESPONSE)
_INCOMPLETE: Final = (h11.IDLE, h11.SEND_BODY)


class CountingSessionManager(StreamableHTTPSessionManager):
    """A session manager for the protocol of 2025 that counts the sessions of a token."""

    def count_of(self, user: AuthenticatedUser) -> int:
        """Return the number of open sessions of a token's holder."""
        owner = authorization_context(user)
        return sum(1 for other in self._session_owners.values() if other == owner)


class TokenQuotas:
    """ASGI middleware that limits the concurrent requests and sessions of each token. More are refused with 429."""

    def __init__(self, app: ASGIApp, limits: HttpLimits, sessions_of: Callable[[AuthenticatedUser], int]) -> None:
        self._app = app
        self._limits = limits
        self._sessions_of = sessions_of
        self._open = Counter[str]()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        user = scope.get("user")
        if not isinstance(user, AuthenticatedUser):
            await self._app(scope, receive, send)  # the application refuses the request
            return
        refusal = self._refusal(user, Request(scope))
        if refusal is not None:
            response = JSONResponse(refusal.document, refusal.status, {"Connection": "close"})
            await response(scope, receive, send)
            return
        token = user.access_token.client_id
        self._open[token] += 1
        try:
            await self._app(scope, receive, send)
        finally:
            self._open[token] -= 1
            if not self._open[token]:
                del self._open[token]

    def _refusal(self, user: AuthenticatedUser, request: Request) -> HttpRefusal | None:
        if request.method == HTTPMethod.DELETE:
            return None  # a DELETE ends a session, which makes room
        if self._open[user.access_token.client_id] >= self._limits.per_token:
            return TOKEN_BUSY
        if _opens_session(request) and self._sessions_of(user) >= self._limits.sessions:
            return TOO_MANY_SESSIONS
        return None


def _opens_session(request: Request) -> bool:
    version = request.headers.get(MCP_PROTOCOL_VERSION_HEADER)
    is_of_2025 = version is None or version in HANDSHAKE_PROTOCOL_VERSIONS
    return is_of_2025 and request.method == HTTPMethod.POST and MCP_SESSION_ID_HEADER not in request.headers


def bounded(limits: HttpLimits) -> type[H11Protocol]:
    """Return the protocol class of a server with these limits."""

    class Bounded(BoundedProtocol):
        bounds = limits

    return Bounded


class BoundedProtocol(H11Protocol):
    """One connection of a server with limits."""

    bounds = HttpLimits()
    _timer: asyncio.TimerHandle | None = None
    _has_room = True

    def connection_made(self, transport: asyncio.Transport) -> None:  # pyright: ignore[reportIncompatibleMethodOverride]  # as uvicorn has it
        super().connection_made(transport)
        count = len(self.connections)
        self._has_room = count <= self.bounds.connections
        if self._has_room:
            self._timer = self.loop.call_later(self.bounds.request_s, self._end, TOO_SLOW)
        elif count <= 2 * self.bounds.connections:
            # A socket that is closed with unread input is reset, and the client might lose the answer.
            self._timer = self.loop.call_later(LINGER_S, self._end, NO_ROOM)
        else:
            transport.abort()

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_timer()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        if not self._has_room:
            self._end(NO_ROOM)
        elif not self.transport.is_closing():
            super().data_received(data)
            self._time()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        self._time()

    def _time(self) -> None:
        """Run the timer while a request has begun and is not complete. More input does not extend the timeout."""
        state = self.conn.their_state
        has_begun = state is h11.SEND_BODY or bool(self.conn.trailing_data[0])
        if state not in _INCOMPLETE or not has_begun:
            self._stop_timer()
        elif self._timer is None:
            self._timer = self.loop.call_later(self.bounds.request_s, self._end, TOO_SLOW)

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _end(self, refusal: HttpRefusal) -> None:
        """End the connection. If no answer has begun, send the refusal first."""
        self._stop_timer()
        if self.transport.is_closing():
            return
        if self.conn.our_state in _UNANSWERED:
            self.transport.write(refusal.response())
        self.transport.close()
