"""A client of the SDK's 1.x, run by a Python with that version. It uses the server once and prints what it received.

python older_client.py stdio COMMAND…        python older_client.py http URL TOKEN
"""

# pyright: basic, reportArgumentType=false, reportAttributeAccessIssue=false, reportOptionalMemberAccess=false
# pyright: reportDeprecated=false
# The imports of this file are from another environment, in another version.

import asyncio
import json
import os
import sys
from contextlib import asynccontextmanager
from importlib.metadata import version

from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamablehttp_client
from pydantic import AnyUrl

LIMIT_S = 20.0


@asynccontextmanager
async def connected():
    """Yield the two streams from and to the server."""
    how, *words = sys.argv[1:]
    if how == "stdio":
        parameters = StdioServerParameters(command=words[0], args=words[1:], env=dict(os.environ))
        async with stdio_client(parameters) as streams:
            yield streams
    else:
        url, token = words
        async with streamablehttp_client(url, headers={"Authorization": f"Bearer {token}"}) as (read, write, _):
            yield read, write


async def main() -> None:
    updated: asyncio.Queue[str] = asyncio.Queue()

    async def hear(message) -> None:
        root = getattr(message, "root", None)
        if getattr(root, "method", "") == "notifications/resources/updated":
            updated.put_nowait(str(root.params.uri))

    async with (
        asyncio.timeout(LIMIT_S),
        connected() as (read, write),
        ClientSession(read, write, message_handler=hear) as session,
    ):
        hello = await session.initialize()
        tools = await session.list_tools()
        agents = await session.call_tool("list_agents", {})
        wrong = await session.call_tool("send_message", {"to": "nobody"})
        await session.subscribe_resource(AnyUrl("covey://agents"))
        await session.call_tool("list_agents", {"status": "trying things"})
        heard = await updated.get()
        inbox = await session.read_resource(AnyUrl("covey://inbox"))
        seen = {
            "sdk": version("mcp"),
            "protocol": hello.protocolVersion,
            "instructions": hello.instructions,
            "tools": [tool.name for tool in tools.tools],
            "agents": [block.text for block in agents.content],
            "data": agents.structuredContent,
            "wrong": wrong.isError,
            "heard": heard,
            "inbox": inbox.contents[0].text,
        }
        print(json.dumps(seen))


asyncio.run(main())
