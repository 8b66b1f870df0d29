"""Seats: the place that a request belongs to. On stdio there is one; over HTTP each client has its own."""

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
    """What lasts as long as the server does: its tasks, and the streams of events that clients have open."""

    tasks: TaskGroup
    streams: set[ListenHandler]


Context = ServerRequestContext[Running, Any]


def connection_of(context: Context) -> Connection:
    """Return the connection of a request. In the protocol of 2025 it lasts as long as the client, and is told when it
    ends; since 2026 each request has one of its own, but for stdio."""
    return context.session._connection  # pyright: ignore[reportPrivateUsage]  # the SDK has no public way to it yet


def client_name(context: Context) -> str | None:
    """Return what the client calls itself."""
    params = context.session.client_params
    return None if params is None else params.client_info.name


HTTP_LEASE: Final = timedelta(minutes=30)
"""How long a session that comes over HTTP lasts without a request. Models think for minutes between two."""

_KEY: Final = "covey.place"


class Seats(Protocol):
    async def of(self, context: Context) -> ClientPlace:
        """Return where a request belongs."""
        ...


class OneSeat:
    """All requests belong to the one client of the process."""

    def __init__(self, place: ClientPlace) -> None:
        self._place = place

    async def of(self, context: Context) -> ClientPlace:
        del context
        return self._place


class TokenSeats:
    """A request belongs to the holder of its token. There, a connection of the protocol of 2025 is a client of its own;
    since 2026 requests stand alone, and a token is one client."""

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
        """Leave every place that is not a connection's own."""
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
    """Return whom a token stands for that was checked when its request came in."""
    return Identity(AgentName(token.subject or ""), None, Grade.TOKEN)


def _token(context: Context) -> AccessToken:
    user = context.request.user if context.request is not None else None
    if not isinstance(user, AuthenticatedUser):
        raise RuntimeError("a request came in without a token")
    return user.access_token
