"""Streamable HTTP: requests with a token, addressed to one of the server's names."""

import asyncio
import socket
from collections.abc import Sequence
from contextlib import contextmanager
from typing import Final, NamedTuple

import anyio
import uvicorn
from mcp.server.auth.middleware.auth_context import AuthContextMiddleware
from mcp.server.auth.middleware.bearer_auth import BearerAuthBackend, RequireAuthMiddleware
from mcp.server.auth.provider import AccessToken
from mcp.server.lowlevel.server import Server
from mcp.server.streamable_http_manager import StreamableHTTPASGIApp
from mcp.server.transport_security import TransportSecuritySettings
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.middleware.authentication import AuthenticationMiddleware
from starlette.routing import Route

from covey.core.errors import IdentityRefused, Unavailable
from covey.core.http import LOOPBACK, HttpAddress, HttpLimits
from covey.core.identity import hash_secret, token_id
from covey.services.space import Services
from covey.surfaces.mcp.clients import HTTP_LEASE, ServerState
from covey.surfaces.mcp.http_limits import CountingSessionManager, TokenQuotas, bounded

PATH: Final = "/mcp"

CLOSING_S: Final = 1
"""The seconds that open streams may go on after the server is told to end."""


class TokenVerifier:
    """A verifier that checks the token of a request against the space."""

    def __init__(self, services: Services) -> None:
        self._services = services

    async def verify_token(self, token: str) -> AccessToken | None:
        try:
            identity = await self._services.identities.by_token(token)
        except IdentityRefused:
            return None
        return AccessToken(token=token, client_id=token_id(hash_secret(token)), scopes=[], subject=identity.agent)


class HttpEndpoint(NamedTuple):
    """A listening socket and its address."""

    socket: socket.socket
    address: HttpAddress

    @property
    def url(self) -> str:
        return f"http://{self.address}{PATH}"


def listen_on(address: HttpAddress) -> HttpEndpoint:
    """Open a listening socket, and return it with its actual port."""
    family = socket.AF_INET6 if ":" in address.host else socket.AF_INET
    try:
        hears = socket.create_server((address.host, address.port), family=family)
    except OSError as error:
        reason = (error.strerror or str(error)).partition(" (")[0]  # the rest repeats the address
        raise Unavailable(f"{address} can't be listened on: {reason}", address=str(address)) from error
    return HttpEndpoint(hears, address._replace(port=hears.getsockname()[1]))


async def serve(
    server: Server[ServerState],
    services: Services,
    listening: HttpEndpoint,
    names: Sequence[str],
    limits: HttpLimits,
    ending: asyncio.Event,
) -> None:
    """Answer requests to one of these names (host:port), and from web pages of these names, until `ending` is set."""
    manager = CountingSessionManager(
        server,
        security_settings=TransportSecuritySettings(
            allowed_hosts=list(names), allowed_origins=[f"http://{name}" for name in names]
        ),
        session_idle_timeout=HTTP_LEASE.total_seconds(),
    )
    protected = RequireAuthMiddleware(StreamableHTTPASGIApp(manager), [])
    app = Starlette(
        routes=[Route(PATH, endpoint=TokenQuotas(protected, limits, manager.count_of))],
        middleware=[
            Middleware(AuthenticationMiddleware, backend=BearerAuthBackend(TokenVerifier(services))),
            Middleware(AuthContextMiddleware),
        ],
    )
    config = uvicorn.Config(
        app,
        http=bounded(limits),
        log_config=None,
        log_level="warning",
        lifespan="off",
        timeout_graceful_shutdown=CLOSING_S,
    )
    http = _HttpServer(config)
    async with anyio.create_task_group() as group, manager.run():
        group.start_soon(http.serve, [listening.socket])
        await ending.wait()
        http.should_exit = True
        # The exit of the manager ends the open streams of clients, and the HTTP server waits for nothing else.


def names_of(address: HttpAddress, others: Sequence[str]) -> Sequence[str]:
    """Return the names that requests may be addressed to: the address, for a loopback address all of its names, and
    the names that the server's owner allows."""
    hosts = LOOPBACK if address.is_loopback else (address.host,)
    return [*(str(address._replace(host=host)) for host in hosts), *others]


class _HttpServer(uvicorn.Server):
    """A uvicorn server that leaves signals to its caller. uvicorn would re-raise a signal, and end the process before
    its resources are closed."""

    @contextmanager
    def capture_signals(self):
        yield
