"""What a request of MCP comes with: its connection, and who sent it."""

from typing import Any, NamedTuple

from anyio.abc import TaskGroup
from mcp.server.connection import Connection
from mcp.server.context import ServerRequestContext
from mcp.server.subscriptions import ListenHandler


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
