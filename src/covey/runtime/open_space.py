"""An open space of a program: its ports, sessions and children, which are closed in order."""

import asyncio
import os
from collections.abc import Sequence
from contextlib import AsyncExitStack
from types import TracebackType
from typing import NamedTuple, Self

from covey.core.errors import SpaceMissing
from covey.core.store_url import StoreUrl
from covey.engines import connect, engine_of, is_there
from covey.ports.space import Ports
from covey.runtime.cancellation import Finisher
from covey.runtime.children.supervisor import Supervisor, Tell
from covey.services.directory.directory import Joined, JoinRequest
from covey.services.peers.bridge import Bridge
from covey.services.space import Services


class Membership(NamedTuple):
    """A session of this program, and the services with the rights of that session."""

    joined: Joined
    services: Services


class OpenSpace:
    """An open space, used as `async with OpenSpace(url, roots) as space`. Its sessions end with the block, and their
    children too."""

    def __init__(self, url: StoreUrl, roots: Sequence[str], *, create: bool = True, tell: Tell | None = None) -> None:
        """`tell` is called with the progress that children of this program report."""
        self.url = url
        self.finisher = Finisher()
        self._create = create
        self._tell = tell
        self._roots = roots
        self._members: list[Membership] = []
        self._ports: Ports | None = None
        self._children: Supervisor | None = None
        self._bridge: asyncio.Task[None] | None = None
        self._pid = os.getpid()

    @property
    def services(self) -> Services:
        """The services of the space, with the rights of this program."""
        if self._ports is None:
            raise RuntimeError("the space is not open: use `async with covey.open() as space`")
        if self._pid != os.getpid():
            raise RuntimeError("a space can't be used after a fork: open it again in the new process")
        return self._services

    async def __aenter__(self) -> Self:
        if not self._create and not await asyncio.to_thread(is_there, self.url):
            raise SpaceMissing(str(self.url), "create is False, so it was not created")
        self._pid = os.getpid()
        self._ports = connect(self.url, self._roots)
        self._services = Services(self._ports, launching=self._supervisor, complete=self.finisher.complete)
        return self

    def _supervisor(self, services: Services) -> Supervisor:
        self._children = Supervisor(services, self.url, tell=self._tell)
        return self._children

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        ports, self._ports = self._ports, None
        if ports is not None and self._pid == os.getpid():  # in a forked child, everything belongs to the parent
            await Finisher().complete(self._close(ports))

    async def _close(self, ports: Ports) -> None:
        """End everything that this object has begun. A failed step does not skip the others."""
        async with AsyncExitStack() as steps:  # the last step runs first
            steps.push_async_callback(ports.close)
            steps.push_async_callback(self._leave)
            if self._children is not None:
                steps.push_async_callback(self._children.close)
            steps.push_async_callback(self.finisher.close)
            if self._bridge is not None:
                self._bridge.cancel()
                await asyncio.wait([self._bridge])

    async def _leave(self) -> None:
        async with AsyncExitStack() as steps:
            for member in self._members:
                steps.push_async_callback(_end_session, member)

    async def kill_children(self) -> None:
        """Kill the children that this program has started."""
        if self._children is not None:
            await self._children.kill()

    async def start_bridge(self) -> None:
        """Import messages of foreign programs from now on, if the store has a wire that they use."""
        bridge = self._bridge_to_begin()
        if bridge is not None:
            await bridge.begin()
            self._bridge = asyncio.create_task(bridge.run())

    async def join(self, wish: JoinRequest, token: str | None = None) -> Membership:
        """Start a session. With an agent's token, its services are limited to the token's rights."""
        services = self.services
        if token is not None:
            services = services.narrowed_to(await services.identities.by_token(token))
        elif engine_of(self.url).capabilities.has_accounts:
            services = await _vouched_for(services)
        return await self.finisher.acquire(self._join(services, wish), self._dismiss)

    async def _join(self, services: Services, wish: JoinRequest) -> Membership:
        bridge = self._bridge_to_begin()
        if bridge is not None:
            await bridge.begin()
        member = Membership(await services.directory.join(wish), services)
        self._members.append(member)
        if bridge is not None and self._bridge is None:
            self._bridge = asyncio.create_task(bridge.run())
        return member

    async def _dismiss(self, member: Membership) -> None:
        """End a session whose caller was cancelled before it got the session."""
        await _end_session(member)
        self._members.remove(member)

    def _bridge_to_begin(self) -> Bridge | None:
        """Return the bridge that imports messages of foreign programs, or None if it already runs or is not needed."""
        is_wanted = self._bridge is None and self._ports is not None and self._ports.wire is not None
        return self.services.bridge if is_wanted else None


async def _end_session(member: Membership) -> None:
    await member.services.directory.leave(member.joined.identity)


async def _vouched_for(services: Services) -> Services:
    """Return the services with the rights of the agent whose key opens the store."""
    holder = await asyncio.to_thread(lambda: services.vouched)  # the first use has to connect
    return services if holder is None else services.narrowed_to(holder)
