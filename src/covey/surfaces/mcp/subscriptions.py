"""Subscriptions, of both protocols: a request that stays open (2026), or one to begin and one to end (2025)."""

from typing import Final

import anyio
import mcp_types as types
from mcp.server.subscriptions import InMemorySubscriptionBus, ListenHandler, ResourceUpdated
from mcp.shared.exceptions import MCPError

from covey.surfaces.mcp.context import Context, connection_of
from covey.surfaces.mcp.seat import Place
from covey.surfaces.mcp.watching import Watch

MOST: Final = 100
"""Resources that one client may watch in one place."""

_KEY: Final = "covey.subscriptions"

Scopes = dict[str, anyio.CancelScope]


async def listen(
    context: Context, params: types.SubscriptionsListenRequestParams, place: Place
) -> types.SubscriptionsListenResult:
    """Serve one stream of events. It has a bus of its own: the same address means another inbox for someone else."""
    bus = InMemorySubscriptionBus()

    async def tell(uri: str) -> None:
        await bus.publish(ResourceUpdated(uri=uri))

    uris = dict.fromkeys(params.notifications.resource_subscriptions or ())
    _check_count(len(uris))
    watches = [await Watch.begin(place.caller, uri) for uri in uris]
    stream = ListenHandler(bus)
    context.lifespan_context.streams.add(stream)
    results: list[types.SubscriptionsListenResult] = []
    try:
        async with anyio.create_task_group() as watchers:
            for watch in watches:
                watchers.start_soon(watch.go_on, tell)
            results.append(await stream(context, params))
            watchers.cancel_scope.cancel()
    finally:
        context.lifespan_context.streams.discard(stream)
    return results[0]


async def subscribe(context: Context, uri: str, place: Place) -> None:
    """Tell a connection of changes from now on, until it unsubscribes or ends."""
    connection = connection_of(context)
    scopes: Scopes = connection.state.setdefault(_KEY, {})
    if uri in scopes:
        return
    _check_count(len(scopes) + 1)
    if not scopes:
        connection.exit_stack.callback(_end_all, scopes)
    scope = scopes[uri] = anyio.CancelScope()
    watch = await Watch.begin(place.caller, uri)

    async def run() -> None:
        with scope:
            await watch.go_on(connection.send_resource_updated)

    context.lifespan_context.tasks.start_soon(run)


def unsubscribe(context: Context, uri: str) -> None:
    """Tell it no more."""
    scopes: Scopes = connection_of(context).state.get(_KEY, {})
    if uri in scopes:
        scopes.pop(uri).cancel()


def _check_count(count: int) -> None:
    if count > MOST:
        raise MCPError(types.INVALID_PARAMS, f"subscribe to at most {MOST} resources")


def _end_all(scopes: Scopes) -> None:
    for scope in scopes.values():
        scope.cancel()
