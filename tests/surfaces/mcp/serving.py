"""`covey mcp --http` as a real process, with clients that send tokens."""

import http.client
import json
from collections.abc import AsyncGenerator, Generator, Sequence
from contextlib import asynccontextmanager, contextmanager
from typing import Any
from urllib.parse import urlsplit

import httpx2
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from covey.core.names import JOURNAL_TOPIC, AgentName
from covey.engines import connect, parse_store_url
from covey.services.space import Services
from tests.surfaces.commands import Folder, Started
from tests.surfaces.mcp.desk import Era

LIMIT_S = 20.0


class HttpServer:
    """A server in a folder with a space."""

    def __init__(self, folder: Folder, process: Started) -> None:
        self.folder = folder
        self.process = process
        self.url: str = json.loads(process.line())["url"]

    def token(self, *words: str) -> str:
        """Create a token."""
        return self.folder.covey("token", "create", *words, "--json").json["token"]

    @asynccontextmanager
    async def client(self, token: str, era: Era) -> AsyncGenerator[Client]:
        """Connect with a token."""
        async with (
            httpx2.AsyncClient(headers=bearer(token), timeout=LIMIT_S, trust_env=False) as http_client,
            Client(streamable_http_client(self.url, http_client=http_client), mode=era) as client,
        ):
            yield client

    def post(self, headers: dict[str, str], body: str = "{}") -> tuple[int, str]:
        """Send a raw request; return the status and the body of the response."""
        place = urlsplit(self.url)
        connection = http.client.HTTPConnection(place.hostname or "", place.port, timeout=LIMIT_S)
        try:
            usual = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
            connection.request("POST", place.path, body, usual | headers)
            answer = connection.getresponse()
            return answer.status, answer.read().decode()
        finally:
            connection.close()

    def sessions(self, agent: str) -> Sequence[Any]:
        """Return the live sessions of an agent."""
        agents = self.folder.covey("agents", "--json").json
        return next(view["sessions"] for view in agents if view["agent"] == agent)

    async def until_live(self, agent: str, count: int) -> None:
        """Wait until an agent has `count` live sessions."""
        ports = connect(parse_store_url(f"sqlite:{self.folder.path}/.covey/covey.db"), ())
        services = Services(ports)

        async def look() -> bool | None:
            return len((await services.directory.agent(AgentName(agent))).sessions) == count or None

        try:
            assert await services.waiting.until([JOURNAL_TOPIC], look, LIMIT_S)
        finally:
            await ports.close()


def bearer(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"}


@contextmanager
def http_server(folder: Folder, *words: str) -> Generator[HttpServer]:
    """Start a server on a free port."""
    with folder.start("mcp", "--http", "127.0.0.1:0", "--json", *words) as process:
        yield HttpServer(folder, process)
