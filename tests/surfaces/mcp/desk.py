"""A desk: agents with MCP clients of the SDK in this process, on one space with a manual clock."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Literal

from mcp import Client
from mcp.client.session import MessageHandlerFnT
from mcp_types import CallToolResult, Implementation, TextContent

from covey.core.directory.session import Ancestor
from covey.core.names import AgentName
from covey.services.directory.clients import ClientSession
from covey.services.directory.directory import JoinRequest
from covey.surfaces.mcp.clients import OnePlace, SessionPlace
from covey.surfaces.mcp.server import make_server
from covey.toolkits.catalogue import toolkit
from tests.scenarios.world import World

Era = Literal["legacy", "2026-07-28"]
ERAS: tuple[Era, ...] = ("legacy", "2026-07-28")


class Desk:
    def __init__(self, world: World) -> None:
        self.world = world
        self._pids = 1000

    def program(self) -> Ancestor:
        """Return a new client program."""
        self._pids += 1
        return self.world.program(self._pids)

    @asynccontextmanager
    async def client(
        self,
        agent: str,
        *,
        kit: str = "native",
        era: Era = "2026-07-28",
        name: str = "test",
        of: Ancestor | None = None,
        hears: MessageHandlerFnT | None = None,
    ) -> AsyncGenerator[Client]:
        """Give an agent its own server and a client that is connected to this server."""
        tools = toolkit(kit)
        services = self.world.process_of(of or self.program()).services
        wish = JoinRequest(AgentName(agent), capacity=tools.capacity)

        async def take() -> ClientSession:
            return await services.clients.serve(wish)

        seat = SessionPlace(services, take)
        await seat.caller()
        server = make_server(tools, OnePlace(seat), "")
        try:
            info = Implementation(name=name, version="1")
            async with Client(server, mode=era, client_info=info, message_handler=hears) as client:
                yield client
        finally:
            await seat.leave()


def text_of(result: CallToolResult) -> str:
    """Return the text of a result that a model reads."""
    return "\n\n".join(block.text for block in result.content if isinstance(block, TextContent))
