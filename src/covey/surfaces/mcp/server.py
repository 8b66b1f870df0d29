"""The MCP server: answers to requests, from a toolkit, the mail and the resources of a space."""

import logging
from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager, contextmanager
from typing import Any, Final

import anyio
import mcp_types as types
from mcp.server.caching import CacheHint
from mcp.server.lowlevel.server import Server
from mcp.shared.exceptions import MCPError
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from covey.core.attention.pending import AttentionOptions
from covey.core.attention.styles import RenderingStyle, framed
from covey.core.errors import CoveyError, Unavailable
from covey.core.names import OfferId
from covey.core.text.escape import one_line
from covey.surfaces.mcp.clients import ClientPlace, ClientPlaces, Context, ServerState, client_name
from covey.surfaces.mcp.resources import PLAIN, RESOURCES, TEMPLATES, listen, read_resource, subscribe, unsubscribe
from covey.toolkits.answers import refused
from covey.toolkits.schemas import schemas
from covey.toolkits.tool import Caller, ToolAnswer, Toolkit
from covey.toolkits.toolbox import Toolbox
from covey.version import __version__

TEXT_ONLY: Final = frozenset({"claude-code", "codex-mcp-client"})
"""Clients that show their model the data instead of the text if a result has both. These clients get only the text."""


def result_of(answer: ToolAnswer, mail: str, client: str | None) -> types.CallToolResult:
    """Return the result of a call for a client. The data holds the text too, for unknown clients that show only the
    data."""
    texts = [text for text in (answer.text, mail) if text]
    data: dict[str, Any] = {"text": "\n\n".join(texts), **answer.data}
    return types.CallToolResult(
        content=[types.TextContent(text=text) for text in texts],
        structured_content=None if client in TEXT_ONLY else data,
        is_error=answer.is_error,
    )


BUDGET: Final = 4_000
"""The limit for mail in characters, including the frame: about 1,000 tokens of a result of another tool."""

LIMIT: Final = 8
"""The largest number of messages in one result."""

TURN: Final = "the result of a tool"

_log = logging.getLogger(__name__)


async def mail_line(caller: Caller, toolkit: Toolkit) -> tuple[str, OfferId | None]:
    """Return the waiting mail, framed, with its offer. Return an empty text if no mail waits, or if hooks show it."""
    if caller.identity.session is None:
        return "", None
    try:
        if not await caller.services.clients.lacks_mail(
            caller.identity, toolkit.presentation, takes_tasks=bool(toolkit.ways.task)
        ):
            return "", None
        terms = AttentionOptions(budget=BUDGET, limit=LIMIT, presentation=toolkit.presentation, ways=toolkit.ways)
        pending = await caller.services.attention.take(caller.identity, TURN, terms)
    except CoveyError as error:
        # The tool has done its work, and its answer must not be lost for this. The mail waits.
        _log.warning("mail was not shown: %s", error.message)
        return "", None
    alone = pending._replace(others=(), more_others=0)
    return (framed(alone, RenderingStyle.COMPACT), pending.offer) if pending.letters else ("", None)


LONG: Final = CacheHint(ttl_ms=3_600_000, scope="private")
"""The cache hint for lists that stay the same while the server runs."""

NO_SUCH_RESOURCE: Final = -32002
"""The error code in the protocol of 2025; since 2026 the code is that of wrong parameters."""


def make_server(toolkit: Toolkit, places: ClientPlaces, instructions: str) -> Server[ServerState]:
    """Return a server that serves a toolkit to the clients of `places`."""
    tools = types.ListToolsResult.model_validate({"tools": schemas(toolkit, "mcp")})
    inputs = {tool.name: tool.input_schema for tool in tools.tools}

    async def list_tools(context: Context, params: object) -> types.ListToolsResult:
        return tools

    async def call_tool(context: Context, params: types.CallToolRequestParams) -> types.CallToolResult:
        place = await places.of(context)
        answer, mail = await _called(place, toolkit, params)
        return result_of(answer, mail, client_name(context))

    async def list_resources(context: Context, params: object) -> types.ListResourcesResult:
        return types.ListResourcesResult(resources=list(RESOURCES))

    async def list_templates(context: Context, params: object) -> types.ListResourceTemplatesResult:
        return types.ListResourceTemplatesResult(resource_templates=list(TEMPLATES))

    async def read(context: Context, params: types.ReadResourceRequestParams) -> types.ReadResourceResult:
        is_modern = context.protocol_version in MODERN_PROTOCOL_VERSIONS
        with _told(types.INVALID_PARAMS if is_modern else NO_SUCH_RESOURCE, params.uri):
            caller = await (await places.of(context)).caller()
            text = await read_resource(caller, toolkit, params.uri)
        contents = types.TextResourceContents(uri=params.uri, mime_type=PLAIN, text=text)
        return types.ReadResourceResult(contents=[contents])

    async def begin(context: Context, params: types.SubscribeRequestParams) -> types.EmptyResult:
        with _told(types.INVALID_PARAMS, params.uri):
            await subscribe(context, params.uri, await places.of(context))
        return types.EmptyResult()

    async def end(context: Context, params: types.UnsubscribeRequestParams) -> types.EmptyResult:
        unsubscribe(context, params.uri)
        return types.EmptyResult()

    async def hear(context: Context, params: types.SubscriptionsListenRequestParams) -> types.SubscriptionsListenResult:
        with _told(types.INVALID_PARAMS):
            return await listen(context, params, await places.of(context))

    return Server(
        "covey",
        version=__version__,
        title="Covey",
        instructions=instructions,
        cache_hints={"tools/list": LONG, "resources/list": LONG, "resources/templates/list": LONG},
        lifespan=_running,
        get_tool_input_schema=inputs.get,
        on_list_tools=list_tools,
        on_call_tool=call_tool,
        on_list_resources=list_resources,
        on_list_resource_templates=list_templates,
        on_read_resource=read,
        on_subscribe_resource=begin,
        on_unsubscribe_resource=end,
        on_subscriptions_listen=hear,
    )


async def _called(place: ClientPlace, toolkit: Toolkit, params: types.CallToolRequestParams) -> tuple[ToolAnswer, str]:
    """Carry out a call, and return its answer and the mail that goes with it. An error is an answer too."""
    try:
        caller = await place.caller()
        await place.evidence.called()
    except CoveyError as error:
        return refused(error), ""
    answer = await Toolbox(toolkit, caller).call(params.name, params.arguments)
    mail, offer = ("", answer.offer) if answer.offer else await mail_line(caller, toolkit)
    if offer is not None:
        place.evidence.shown(offer)
    return answer, mail


@contextmanager
def _told(code: int, uri: str | None = None) -> Generator[None]:
    """Turn a Covey error into an MCP error: internal if the space is unavailable, otherwise with `code`."""
    try:
        yield
    except CoveyError as error:
        data = None if uri is None else {"uri": uri}
        told = one_line(error.message)
        raise MCPError(types.INTERNAL_ERROR if isinstance(error, Unavailable) else code, told, data) from error


@asynccontextmanager
async def _running(server: Server[Any]) -> AsyncGenerator[ServerState]:
    """Provide the state with the lifetime of the server. At the end, close the streams, then cancel the tasks."""
    del server
    async with anyio.create_task_group() as tasks:
        running = ServerState(tasks, set())
        try:
            yield running
        finally:
            for stream in running.streams:
                stream.close()
            tasks.cancel_scope.cancel()
