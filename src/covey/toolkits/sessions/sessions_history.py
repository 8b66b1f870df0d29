"""sessions_history: the messages between the caller and a session."""

from collections.abc import Sequence
from typing import Final

from covey.core.errors import SessionUnknown
from covey.core.json import Json, JsonObject
from covey.core.ledger.body import body_of
from covey.core.ledger.message import Message
from covey.core.text.escape import harmless
from covey.core.times import format_instant
from covey.toolkits.answers import as_json, refused
from covey.toolkits.read_message import REST
from covey.toolkits.sessions.targets import HINT, LABEL, SESSION_KEY, live_session, own_child
from covey.toolkits.tool import Answer, Arguments, Caller, Form, Parameter, Tool

LAST: Final = 20
MOST: Final = 200
BODY_CHARS: Final = 4_000
"""The maximal number of characters of each message."""


async def _run(caller: Caller, arguments: Arguments) -> Answer:
    limit = arguments.get("limit")
    count = min(max(limit, 1), MOST) if isinstance(limit, int) else LAST
    try:
        messages = await _said(caller, arguments)
    except SessionUnknown as error:
        return refused(error, HINT)
    shown = messages[-count:]
    return as_json({"messages": [_entry(message, caller) for message in shown], "earlier": len(messages) - len(shown)})


async def _said(caller: Caller, arguments: Arguments) -> Sequence[Message]:
    """Return the messages between the two: as parent and child, and in their last negotiation."""
    run = await own_child(caller, arguments)
    found = [] if run is None else [*await caller.services.runs.history(run.id)]
    if run is None or not run.has_ended:
        session = await live_session(caller, arguments)
        known, *_ = await caller.services.negotiations.look(caller.identity, session)
        found += [] if known is None else await caller.services.dialogue.thread(known.first.thread)
        names = {caller.identity.agent, caller.identity.session, session.agent, session.id}
    else:
        names = {caller.identity.agent, caller.identity.session, run.agent, run.session}
    # Messages to people about it are in the same threads.
    theirs = [message for message in found if any(address.value in names for address in message.to)]
    return sorted({message.id: message for message in theirs}.values(), key=lambda m: m.created_at)


def _entry(message: Message, caller: Caller) -> JsonObject:
    body = body_of(message)
    rest = REST.format(number=message.id, next=BODY_CHARS + 1)
    entry: dict[str, Json] = {
        "from": message.sender.agent,
        "isYou": True if message.sender.session == caller.identity.session is not None else None,
        "at": format_instant(message.created_at),
        "kind": str(message.kind),
        "round": message.round,
        "text": harmless(body[:BODY_CHARS]),
        "cut": f"{BODY_CHARS:,} of {len(body):,} characters; the rest: {rest}" if len(body) > BODY_CHARS else None,
    }
    return {name: value for name, value in entry.items() if value is not None}


SESSIONS_HISTORY: Final = Tool(
    name="sessions_history",
    description="Read what you and a session said to each other; with your children also after they have ended.",
    parameters=(SESSION_KEY, LABEL, Parameter("limit", f"how many of the last messages ({LAST})", Form.WHOLE)),
    run=_run,
    is_read_only=True,
)
