"""The mapping from requests to client places. On stdio there is one place; over HTTP each client has its own."""

from datetime import timedelta
from typing import Any, Final, NamedTuple, Protocol

from anyio.abc import TaskGroup
from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser
from mcp.server.auth.provider import AccessToken
from mcp.server.connection import Connection
from mcp.server.context import ServerRequestContext
from mcp.server.subscriptions import ListenHandler

from covey.core.identity import Grade, Identity
from covey.core.names import AgentName, Label
from covey.services.directory.clients import Seated
from covey.services.directory.directory import JoinRequest
from covey.services.space import Services
from covey.surfaces.mcp.seat import ClientPlace, Seat, Standing


class Running(NamedTuple):
    """State with the lifetime of the server: its tasks, and the open event streams of clients."""

    tasks: TaskGroup
    streams: set[ListenHandler]


Context = ServerRequestContext[Running, Any]


def connection_of(context: Context) -> Connection:
    """Return the connection of a request. In the protocol of 2025 a connection lasts as long as its client, and runs
    callbacks at its end. Since 2026 each request has its own connection, except on stdio."""
    return context.session._connection  # pyright: ignore[reportPrivateUsage]  # the SDK has no public way to it yet


def client_name(context: Context) -> str | None:
    """Return the name that the client gave for itself."""
    params = context.session.client_params
    return None if params is None else params.client_info.name


HTTP_LEASE: Final = timedelta(minutes=30)
"""The lease of a session over HTTP, renewed by requests. Models think for minutes between two requests."""

_KEY: Final = "covey.place"


class Seats(Protocol):
    async def of(self, context: Context) -> ClientPlace:
        """Return the place of the client that sent a request."""
        ...


class OneSeat:
    """Seats of a process with one client, to which all requests belong."""

    def __init__(self, place: ClientPlace) -> None:
        self._place = place

    async def of(self, context: Context) -> ClientPlace:
        del context
        return self._place


class TokenSeats:
    """Seats of a server whose requests show tokens. A request belongs to the holder of its token. In the protocol of
    2025 each connection is a client of its own. Since 2026 requests stand alone, and each token is one client."""

    def __init__(self, services: Services, wish: JoinRequest) -> None:
        self._services = services
        self._wish = wish._replace(lease=HTTP_LEASE)
        self._by_token: dict[str, ClientPlace] = {}

    async def of(self, context: Context) -> ClientPlace:
        connection = connection_of(context)
        token = _token(context)
        if connection.session_id is None:
            if token.client_id not in self._by_token:
                self._by_token[token.client_id] = self._place(token, Label(f"mcp-{token.client_id}"))
            return self._by_token[token.client_id]
        if _KEY not in connection.state:
            place = connection.state[_KEY] = self._place(token, Label(f"mcp-{connection.session_id}"))
            connection.exit_stack.push_async_callback(place.leave)
        return connection.state[_KEY]

    async def leave(self) -> None:
        """Leave every place that belongs to a token; the place of a connection is left when the connection ends."""
        for place in self._by_token.values():
            await place.leave()

    def _place(self, token: AccessToken, label: Label) -> ClientPlace:
        identity = identity_of(token)
        services = self._services.narrowed_to(identity)
        if identity.is_operator:
            return Standing(services, identity)

        async def take() -> Seated:
            return await services.clients.remote(self._wish._replace(name=identity.agent, label=label))

        return Seat(services, take)


def identity_of(token: AccessToken) -> Identity:
    """Return the identity behind a token. The token was checked when its request came in."""
    return Identity(AgentName(token.subject or ""), None, Grade.TOKEN)


def _token(context: Context) -> AccessToken:
    user = context.request.user if context.request is not None else None
    if not isinstance(user, AuthenticatedUser):
        raise RuntimeError("a request came in without a token")
    return user.access_token
