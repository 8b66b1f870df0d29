"""The main program of the MCP server: it runs until its client leaves or a signal ends it."""

import asyncio
import logging
import os
import signal
import sys
from collections.abc import Awaitable, Callable, Sequence
from threading import current_thread, main_thread

import anyio

from covey.core.errors import IdentityRefused, SessionEnded
from covey.core.http import HttpAddress, HttpLimits
from covey.core.identity import Identity
from covey.core.names import AgentName, parse_session_id
from covey.core.store_url import StoreUrl
from covey.core.text.hidden import unbroken, visible
from covey.runtime.open_space import OpenSpace
from covey.services.directory.clients import ClientSession
from covey.services.directory.directory import JoinRequest
from covey.services.space import Services
from covey.surfaces.mcp.clients import OnePlace, SessionPlace, TokenPlaces
from covey.surfaces.mcp.server import make_server
from covey.surfaces.mcp.stdio import stdio_wire
from covey.toolkits.tool import Toolkit

WHERE_MAIL_IS = "New messages to you stand at the end of results of these tools, in <covey-mail>."

_log = logging.getLogger(__name__)


class _OneLine(logging.Formatter):
    """A formatter with one line a record and no control characters: an error may repeat input of a client."""

    def formatMessage(self, record: logging.LogRecord) -> str:  # noqa: N802 - the name that logging has for it
        return visible(unbroken(super().formatMessage(record)))


async def serve_stdio(
    url: StoreUrl, roots: Sequence[str], toolkit: Toolkit, name: AgentName | None, ending: asyncio.Event
) -> None:
    """Serve the client that started this process, until it closes stdin or `ending` is set."""
    async with OpenSpace(url, roots) as space:
        await space.start_bridge()
        all_services = space.services
        holder = await _holder(all_services)
        services = all_services if holder is None else all_services.narrowed_to(holder)
        wish = JoinRequest(name or (holder.agent if holder else None), capacity=toolkit.capacity)
        inherited = None if holder else await _inherited(services, name)

        async def take() -> ClientSession:
            return await services.clients.serve(wish, inherited)

        place = SessionPlace(services, take)
        try:
            agent = (await place.caller()).identity.agent
            server = make_server(toolkit, OnePlace(place), _instructions(toolkit, agent))
            async with stdio_wire(ending) as (inbound, outbound):
                await server.run(inbound, outbound, server.create_initialization_options())
        finally:
            with anyio.CancelScope(shield=True):
                await place.leave()


async def serve_http(
    url: StoreUrl,
    roots: Sequence[str],
    toolkit: Toolkit,
    address: HttpAddress,
    names: Sequence[str],
    limits: HttpLimits,
    tell: Callable[[str], None],
    ending: asyncio.Event,
) -> None:
    """Serve clients that show a token, until `ending` is set. `tell` is called with the URL."""
    from covey.surfaces.mcp.http import listen_on, names_of, serve  # imported late because stdio does not need it

    async with OpenSpace(url, roots) as space:
        await space.start_bridge()
        services = space.services
        places = TokenPlaces(services, JoinRequest(capacity=toolkit.capacity))
        server = make_server(toolkit, places, _instructions(toolkit, None))
        listening = listen_on(address)
        tell(listening.url)
        try:
            await serve(server, services, listening, names_of(listening.address, names), limits, ending)
        finally:
            with anyio.CancelScope(shield=True):
                await places.leave()


def run_until_told(work: Callable[[asyncio.Event], Awaitable[None]]) -> None:
    """Run `work` to its end; a signal sets its `ending` event. After Ctrl-C, raise KeyboardInterrupt to the caller."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(_OneLine("covey mcp: %(message)s"))
    logging.basicConfig(handlers=[handler], level=logging.WARNING)
    told: list[signal.Signals] = []

    async def run() -> None:
        ending = asyncio.Event()

        def end(number: signal.Signals) -> None:
            told.append(number)
            ending.set()

        if current_thread() is main_thread():
            for number in (signal.SIGINT, signal.SIGTERM):
                if signal.getsignal(number) is not signal.SIG_IGN:
                    asyncio.get_running_loop().add_signal_handler(number, end, number)
        await work(ending)

    asyncio.run(run())
    if signal.SIGINT in told:
        raise KeyboardInterrupt


async def _holder(services: Services) -> Identity | None:
    """Return the identity behind the token in COVEY_TOKEN, or behind an agent's credentials for the store."""
    token = os.environ.get("COVEY_TOKEN")
    if token is None:
        return await asyncio.to_thread(lambda: services.vouched)
    holder = await services.identities.by_token(token)
    if holder.is_operator:
        raise IdentityRefused("the operator has no session: COVEY_TOKEN has to be an agent's, or use --http")
    return holder


async def _inherited(services: Services, name: AgentName | None) -> Identity | None:
    """Return the identity that COVEY_SESSION proves. Return None if the session has ended or belongs to an agent other
    than `name`."""
    session_id, _, secret = os.environ.get("COVEY_SESSION", "").partition(":")
    if not session_id:
        return None
    try:
        identity = await services.identities.by_secret(parse_session_id(session_id), secret)
    except SessionEnded as error:
        _log.warning("%s, so a new one begins", error.message)
        return None
    return identity if name in (None, identity.agent) else None


def _instructions(toolkit: Toolkit, agent: AgentName | None) -> str:
    """Return the instructions for a model: a few lines about the agent, the tools and the mail."""
    lines = [f"You are the agent {agent}."] if agent else []
    return "\n".join([*lines, toolkit.instructions, WHERE_MAIL_IS])
