"""The SDK's bare server: its own transport, and one tool that does nothing."""

import anyio
import mcp_types as types
from mcp.server.lowlevel.server import Server
from mcp.server.stdio import stdio_server


async def list_tools(context: object, params: object) -> types.ListToolsResult:
    return types.ListToolsResult(tools=[types.Tool(name="empty", input_schema={"type": "object"})])


async def call_tool(context: object, params: object) -> types.CallToolResult:
    return types.CallToolResult(content=[types.TextContent(text="ok")])


async def main() -> None:
    server = Server("bare", on_list_tools=list_tools, on_call_tool=call_tool)
    async with stdio_server() as (inbound, outbound):
        await server.run(inbound, outbound, server.create_initialization_options())


if __name__ == "__main__":
    anyio.run(main)
