"""Resources: texts that a client may read without a tool. A read changes nothing, and is no evidence."""

from collections.abc import Sequence
from typing import Final

import mcp_types as types

from covey.core.attention.pending import LeftOut, Pending, Rank
from covey.core.errors import Invalid, NotFound, Rejected
from covey.core.ids import session_inbox
from covey.core.ledger.message import asks_something
from covey.core.rendering.budget import fit_letters
from covey.core.rendering.compact import compact_text
from covey.services.attention.attention import letter_of
from covey.services.mail.looking import Item
from covey.toolkits.answers import rendered
from covey.toolkits.native.conversation import LONGEST, conversation
from covey.toolkits.native.list_agents import LIST_AGENTS
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


async def waiting(caller: Caller) -> Sequence[Item]:
    """Return the waiting mail in the inbox of the caller's session, shown before or not."""
    session = caller.identity.session
    return () if session is None else await caller.services.looking.peek_inbox(session_inbox(session))


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


def _inbox(caller: Caller, toolkit: Toolkit, items: Sequence[Item]) -> str:
    if not items:
        return "No messages wait."
    letters = [letter_of(item.delivery, item.message, Rank.PEER, BUDGET) for item in items]
    asking = sum(asks_something(item.message.kind, item.message.expects_reply) for item in items)
    whole = Pending(caller.identity.agent, left_out=LeftOut(len(items), asking), ways=toolkit.ways)
    return compact_text(fit_letters(whole, letters, BUDGET))
