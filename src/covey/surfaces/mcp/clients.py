"""Clients of the server: the session that each acts from, and the evidence that its model has read a result.

On stdio there is one client; over HTTP each token or connection has its own place. A call that comes after a result
does not prove that the model answered in between: models make several calls at once, and clients carry them out one
after another within moments. So a call counts only after a pause, and only as inferred evidence.
"""

import logging
from collections.abc import Awaitable, Callable
from datetime import timedelta
from typing import Any, Final, NamedTuple, Protocol

import anyio
from anyio.abc import TaskGroup
from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser
from mcp.server.auth.provider import AccessToken
from mcp.server.connection import Connection
from mcp.server.context import ServerRequestContext
from mcp.server.subscriptions import ListenHandler

from covey.core.errors import CoveyError, SessionEnded, SessionUnknown, Unavailable
from covey.core.identity import Grade, Identity
from covey.core.ledger.offer import EvidenceGrade
from covey.core.names import AgentName, Label, OfferId
from covey.services.directory.clients import ClientSession
from covey.services.directory.directory import JoinRequest
from covey.services.space import Services
from covey.toolkits.tool import Caller

PAUSE_S: Final = 1.0
"""The shortest pause that counts. A call that comes sooner may have been made together with the call before."""

_log = logging.getLogger(__name__)


class _ShownOffer(NamedTuple):
    offer: OfferId
    at: float
    """The monotonic time at which the result with the offer was handed over."""


class Evidence:
    """The offers of one session that this server has shown and that wait for evidence. Offers that an earlier server
    has shown end with their leases."""

    def __init__(self, services: Services) -> None:
        self._services = services
        self._waiting: list[_ShownOffer] = []
        self._actor: Identity | None = None

    def begin(self, actor: Identity) -> None:
        """Start over with a new session, in which nothing was shown yet."""
        self._actor = actor
        self._waiting.clear()

    def shown(self, offer: OfferId) -> None:
        """Record that a result with an offer is being sent."""
        self._waiting.append(_ShownOffer(offer, self._services.clock.monotonic()))

    async def called(self) -> None:
        """Confirm, as inferred, the offers that were shown at least a pause before the call that comes in now."""
        now = self._services.clock.monotonic()
        read = [shown for shown in self._waiting if now - shown.at >= PAUSE_S]
        self._waiting = [shown for shown in self._waiting if shown not in read]
        for shown in read:
            await self._confirm(shown, f"a tool was called {now - shown.at:.1f} s after the result that shows it")

    async def _confirm(self, shown: _ShownOffer, basis: str) -> None:
        assert self._actor is not None, "nothing is shown before a session begins"
        try:
            await self._services.offers.confirm(shown.offer, self._actor, EvidenceGrade.INFERRED, basis)
        except Unavailable:
            self._waiting.append(shown)
            raise
        except CoveyError as error:  # for example, the offer was pruned; the call itself must not fail for that
            _log.warning("there is no evidence for an offer: %s", error.message)


TakeSession = Callable[[], Awaitable[ClientSession]]


class ClientPlace(Protocol):
    """The state that the requests of one client share."""

    evidence: Evidence

    async def caller(self) -> Caller:
        """Record a sign of life, and return the caller."""
        ...

    async def leave(self) -> None:
        """Record that the client is gone."""
        ...


class SessionPlace:
    """A place with its own session. The session is taken on first use. If the session was ended from outside, the
    next call takes a new one."""

    def __init__(self, services: Services, take: TakeSession) -> None:
        self.evidence = Evidence(services)
        self._services = services
        self._take = take
        self._seated: ClientSession | None = None
        self._turn = anyio.Lock()

    async def caller(self) -> Caller:
        async with self._turn:
            if self._seated is not None:
                try:
                    await self._services.clients.seen(self._seated.identity)
                except (SessionEnded, SessionUnknown):
                    self._seated = None
            if self._seated is None:
                self._seated = await self._take()
                self.evidence.begin(self._seated.identity)
            return Caller(self._services, self._seated.identity)

    async def leave(self) -> None:
        async with self._turn:
            if self._seated is not None:
                seated, self._seated = self._seated, None
                await self._services.clients.release(seated)


class OperatorPlace:
    """A place without a session: the operator acts with a token alone."""

    def __init__(self, services: Services, identity: Identity) -> None:
        self.evidence = Evidence(services)
        self._caller = Caller(services, identity)

    async def caller(self) -> Caller:
        return self._caller

    async def leave(self) -> None:
        """Do nothing: there is no session to end."""


class ServerState(NamedTuple):
    """State with the lifetime of the server: its tasks, and the open event streams of clients."""

    tasks: TaskGroup
    streams: set[ListenHandler]


Context = ServerRequestContext[ServerState, Any]


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


class ClientPlaces(Protocol):
    async def of(self, context: Context) -> ClientPlace:
        """Return the place of the client that sent a request."""
        ...


class OnePlace:
    """Seats of a process with one client, to which all requests belong."""

    def __init__(self, place: ClientPlace) -> None:
        self._place = place

    async def of(self, context: Context) -> ClientPlace:
        del context
        return self._place


class TokenPlaces:
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
            return OperatorPlace(services, identity)

        async def take() -> ClientSession:
            return await services.clients.remote(self._wish._replace(name=identity.agent, label=label))

        return SessionPlace(services, take)


def identity_of(token: AccessToken) -> Identity:
    """Return the identity behind a token. The token was checked when its request came in."""
    return Identity(AgentName(token.subject or ""), None, Grade.TOKEN)


def _token(context: Context) -> AccessToken:
    user = context.request.user if context.request is not None else None
    if not isinstance(user, AuthenticatedUser):
        raise RuntimeError("a request came in without a token")
    return user.access_token
