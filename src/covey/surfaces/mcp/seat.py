"""Client places: the session that a client acts from, and the evidence about its model."""

from collections.abc import Awaitable, Callable
from typing import Protocol

import anyio

from covey.core.errors import SessionEnded, SessionUnknown
from covey.core.identity import Identity
from covey.services.directory.clients import Seated
from covey.services.space import Services
from covey.surfaces.mcp.evidence import Evidence
from covey.toolkits.tool import Caller

TakeSeat = Callable[[], Awaitable[Seated]]


class ClientPlace(Protocol):
    """The state that the requests of one client share."""

    evidence: Evidence

    async def caller(self) -> Caller:
        """Record a sign of life, and return the caller."""
        ...

    async def leave(self) -> None:
        """Record that the client is gone."""
        ...


class Seat:
    """A place with its own session. The session is taken on first use. If the session was ended from outside, the
    next call takes a new one."""

    def __init__(self, services: Services, take: TakeSeat) -> None:
        self.evidence = Evidence(services)
        self._services = services
        self._take = take
        self._seated: Seated | None = None
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


class Standing:
    """A place without a session: the operator acts with a token alone."""

    def __init__(self, services: Services, identity: Identity) -> None:
        self.evidence = Evidence(services)
        self._caller = Caller(services, identity)

    async def caller(self) -> Caller:
        return self._caller

    async def leave(self) -> None:
        """Do nothing: there is no session to end."""
