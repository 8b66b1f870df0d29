"""Resources: texts that a client may read without a tool, and subscriptions to their changes.

A read changes nothing, and is no evidence. A subscription is one request that stays open (protocol of 2026), or a pair
of requests (2025).
"""

import logging
from collections.abc import Awaitable, Callable, Collection, Sequence
from typing import Final

import anyio
import mcp_types as types
from mcp.server.subscriptions import InMemorySubscriptionBus, ListenHandler, ResourceUpdated
from mcp.shared.exceptions import MCPError

from covey.core.attention.pending import OmittedCounts, Pending, SenderRank
from covey.core.attention.selection import fit_letters
from covey.core.attention.styles import compact_text
from covey.core.errors import CoveyError, Invalid, NotFound, Rejected, Unavailable
from covey.core.ledger.message import asks_something
from covey.core.names import JOURNAL_TOPIC, Topic, inbox_topic, session_inbox
from covey.services.attention.attention import letter_of
from covey.services.mail.inbox import InboxItem
from covey.surfaces.mcp.clients import ClientPlace, Context, connection_of
from covey.toolkits.answers import rendered
from covey.toolkits.native.agents import LIST_AGENTS
from covey.toolkits.native.inbox import LONGEST, conversation
from covey.toolkits.references import message_of
from covey.toolkits.tool import Caller, Toolkit
from covey.toolkits.toolbox import call

INBOX: Final = "covey://inbox"
AGENTS: Final = "covey://agents"
THREAD: Final = "covey://thread/"
PLAIN: Final = "text/plain"

BUDGET: Final = 20_000
"""The largest number of characters of the inbox resource."""

RESOURCES: Final = (
    types.Resource(uri=INBOX, name="inbox", title="Inbox", description="The messages that wait", mime_type=PLAIN),
    types.Resource(uri=AGENTS, name="agents", title="Agents", description="Who is there", mime_type=PLAIN),
)
TEMPLATES: Final = (
    types.ResourceTemplate(
        uri_template=THREAD + "{id}",
        name="thread",
        title="Thread",
        description="The conversation that a message is in, by the message's number or id",
        mime_type=PLAIN,
    ),
)


async def read_resource(caller: Caller, toolkit: Toolkit, uri: str) -> str:
    """Return the current text of a resource. Raise NotFound or Invalid if there is no such resource."""
    if uri == INBOX:
        return _inbox(caller, toolkit, await waiting(caller))
    if uri == AGENTS:
        return (await call(LIST_AGENTS, caller, {})).text
    if uri.startswith(THREAD):
        message_id = await message_of(caller, uri.removeprefix(THREAD))
        part = await caller.services.reading.look(message_id, 0, LONGEST)
        return rendered(await conversation(caller, part, toolkit.ways.rest)).text
    raise Invalid("resource", uri, f"there are {INBOX}, {AGENTS} and {THREAD}{{id}}")


async def waiting(caller: Caller) -> Sequence[InboxItem]:
    """Return the waiting mail in the inbox of the caller's session, shown before or not."""
    session = caller.identity.session
    return () if session is None else await caller.services.inbox.peek_inbox(session_inbox(session))


async def state_of(caller: Caller, uri: str) -> object:
    """Return a value that changes when the text of a resource does; None if there is no such resource."""
    try:
        if uri == INBOX:
            return tuple(item.delivery.id for item in await waiting(caller))
        if uri == AGENTS:
            views = await caller.services.directory.agents()
            return tuple((view.name, view.card, view.presence, view.status) for view in views)
        if uri.startswith(THREAD):
            message_id = await message_of(caller, uri.removeprefix(THREAD))
            return len(await caller.services.dialogue.thread(message_id))
    except (NotFound, Rejected):
        return None
    return None


def _inbox(caller: Caller, toolkit: Toolkit, items: Sequence[InboxItem]) -> str:
    if not items:
        return "No messages wait."
    letters = [letter_of(item.delivery, item.message, SenderRank.PEER, BUDGET) for item in items]
    asking = sum(asks_something(item.message.kind, item.message.expects_reply) for item in items)
    whole = Pending(caller.identity.agent, left_out=OmittedCounts(len(items), asking), ways=toolkit.ways)
    return compact_text(fit_letters(whole, letters, BUDGET))


AT_A_TIME_S: Final = 300.0
"""The limit of one wait in seconds. The watch then records a sign of life, and waits again."""

QUIET_S: Final = 0.2
"""The pause after a notification in seconds, so that a burst of changes is one notification."""

AGAIN_S: Final = 5.0
"""The seconds until the next try if the space is unavailable."""

FindCaller = Callable[[], Awaitable[Caller]]
"""Returns the caller that watches, after a sign of life."""
Tell = Callable[[str], Awaitable[None]]

_log = logging.getLogger(__name__)


class ResourceWatch:
    """A watch on one resource, with its last known state."""

    def __init__(self, find: FindCaller, uri: str, state: object) -> None:
        self._find = find
        self._uri = uri
        self._state = state

    @classmethod
    async def begin(cls, find: FindCaller, uri: str) -> "ResourceWatch":
        """Return a watch that misses nothing from now on."""
        return cls(find, uri, await state_of(await find(), uri))

    async def go_on(self, tell: Tell) -> None:
        """Call `tell` after each change of the resource, until cancelled."""
        while True:
            try:
                if await self._has_changed(await self._find()):
                    await tell(self._uri)
                    await anyio.sleep(QUIET_S)
            except Unavailable as error:
                _log.warning("%s can't be watched now: %s", self._uri, error.message)
                await anyio.sleep(AGAIN_S)
            except CoveyError as error:
                _log.warning("%s is watched no longer: %s", self._uri, error.message)
                return

    async def _has_changed(self, caller: Caller) -> bool:
        """Wait until the resource differs from its last known state. Return False on timeout."""

        async def look() -> bool | None:
            state = await state_of(caller, self._uri)
            has_changed, self._state = state != self._state, state
            return True if has_changed else None

        return await caller.services.waiting.until(self._topics(caller), look, AT_A_TIME_S) is not None

    def _topics(self, caller: Caller) -> Collection[Topic]:
        if self._uri == INBOX and caller.identity.session is not None:
            return [inbox_topic(session_inbox(caller.identity.session))]
        return [JOURNAL_TOPIC]


MOST: Final = 100
"""The largest number of resources in one stream or on one connection."""

_KEY: Final = "covey.subscriptions"

Scopes = dict[str, anyio.CancelScope]


async def listen(
    context: Context, params: types.SubscriptionsListenRequestParams, place: ClientPlace
) -> types.SubscriptionsListenResult:
    """Serve one stream of events. Each stream has its own bus, because the same URI is another inbox for another
    client."""
    bus = InMemorySubscriptionBus()

    async def tell(uri: str) -> None:
        await bus.publish(ResourceUpdated(uri=uri))

    uris = dict.fromkeys(params.notifications.resource_subscriptions or ())
    _check_count(len(uris))
    watches = [await ResourceWatch.begin(place.caller, uri) for uri in uris]
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


async def subscribe(context: Context, uri: str, place: ClientPlace) -> None:
    """Notify a connection of changes from now on, until it unsubscribes or ends."""
    connection = connection_of(context)
    scopes: Scopes = connection.state.setdefault(_KEY, {})
    if uri in scopes:
        return
    _check_count(len(scopes) + 1)
    if not scopes:
        connection.exit_stack.callback(_end_all, scopes)
    scope = scopes[uri] = anyio.CancelScope()
    watch = await ResourceWatch.begin(place.caller, uri)

    async def run() -> None:
        with scope:
            await watch.go_on(connection.send_resource_updated)

    context.lifespan_context.tasks.start_soon(run)


def unsubscribe(context: Context, uri: str) -> None:
    """End the subscription of a connection to a resource."""
    scopes: Scopes = connection_of(context).state.get(_KEY, {})
    if uri in scopes:
        scopes.pop(uri).cancel()


def _check_count(count: int) -> None:
    if count > MOST:
        raise MCPError(types.INVALID_PARAMS, f"subscribe to at most {MOST} resources")


def _end_all(scopes: Scopes) -> None:
    for scope in scopes.values():
        scope.cancel()
