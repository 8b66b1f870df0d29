"""The place of a client: the session that it acts from, and what its model was shown there."""

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
    """Where the requests of one client belong."""

    evidence: Evidence

    async def caller(self) -> Caller:
        """Return who calls, after a sign of life."""
        ...

    async def leave(self) -> None:
        """Note that the client is gone."""
        ...


class Seat:
    """A session of its own. It is taken when it is first used; one that others ended meanwhile is followed by a new
    one."""

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
    """No session: the operator acts by a token alone."""

    def __init__(self, services: Services, identity: Identity) -> None:
        self.evidence = Evidence(services)
        self._caller = Caller(services, identity)

    async def caller(self) -> Caller:
        return self._caller

    async def leave(self) -> None:
        """Nothing is left behind."""
