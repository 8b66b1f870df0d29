"""sessions_send and sessions_history: say something to a live session, wait for its reply, and read the talk so far."""

from collections.abc import Sequence
from typing import Final

from covey.core.errors import Invalid, SessionUnknown
from covey.core.json import Json, JsonObject
from covey.core.ledger.draft import Draft
from covey.core.ledger.message import Kind, Message, TextPart, body_of
from covey.core.names import MessageId
from covey.core.text.escape import harmless
from covey.core.times import format_instant
from covey.core.work.negotiation import REPLY_SKIP, NegotiationEnding, Step, step_of
from covey.services.dialogue.negotiation import ANSWERING, ExchangeState, SessionExchange
from covey.toolkits.answers import as_json, failures, refused, said
from covey.toolkits.arguments import LONGEST_WAIT, given_seconds, given_text
from covey.toolkits.read_message import REST
from covey.toolkits.references import check_answerable, message_of, progress_of, was_named
from covey.toolkits.sessions.lookup import HINT, LABEL, SESSION_KEY, live_session, own_child
from covey.toolkits.tool import Arguments, Caller, Parameter, ParameterType, Tool, ToolAnswer


async def _send(caller: Caller, arguments: Arguments) -> ToolAnswer:
    wait = arguments.get("timeoutSeconds")
    if isinstance(wait, int | float) and wait < 0:
        raise Invalid("timeoutSeconds", wait, "use 0 to deliver without waiting, or how long to wait")
    seconds = given_seconds(arguments, "timeoutSeconds", LONGEST_WAIT)
    text, reference = given_text(arguments, "message"), given_text(arguments, "replyTo")
    if reference is not None:
        return await _reply(caller, await message_of(caller, reference, "replyTo"), text, arguments, seconds)
    try:
        to = await live_session(caller, arguments)
    except SessionUnknown as error:
        return refused(error, HINT)
    negotiations = caller.services.negotiations
    if text is None:
        return await _answer(caller, await negotiations.wait(to, caller.identity, seconds))
    known, *_ = await negotiations.look(caller.identity, to)
    owed = None if known is None else known.owed_by(caller.identity)
    exchange = await negotiations.say((TextPart(text),), to, caller.identity, seconds)
    if owed is not None:
        await was_named(caller, owed.id, SESSIONS_SEND.name)
    return await _answer(caller, exchange)


async def _reply(
    caller: Caller, answered: MessageId, text: str | None, arguments: Arguments, seconds: float
) -> ToolAnswer:
    """Answer a message that wants an answer. If it wants none, like a late reply, continue the negotiation with its
    sender."""
    if text is None:
        raise Invalid("message", None, "say what you reply")
    if any(name in arguments for name in (SESSION_KEY.name, LABEL.name)):
        raise Invalid("replyTo", answered, "a reply goes to the sender of that message: leave sessionKey and label out")
    message = check_answerable(await caller.services.mail.message(answered), "replyTo")
    if not message.expects_reply and message.sender.session is not None:
        sender = await caller.services.directory.session(message.sender.session)
        if not sender.has_ended:
            exchange = await caller.services.negotiations.say((TextPart(text),), sender, caller.identity, seconds)
            await was_named(caller, message.id, SESSIONS_SEND.name)
            return await _answer(caller, exchange)
    draft = Draft(Kind.RESPONSE, (), (TextPart(text),), in_reply_to=message.id)
    receipt = await caller.services.mail.send(draft, caller.identity, ANSWERING)
    await was_named(caller, message.id, SESSIONS_SEND.name)
    is_round = step_of(message) is Step.ROUND
    data: dict[str, Json] = {
        "status": "delivered" if receipt.delivered else "failed",
        "to": message.sender.agent,
        "round": message.round if is_round else None,
    }
    note = "Your reply is delivered." if receipt.delivered else " ".join(failures(receipt))
    return as_json({**data, "note": note}, is_error=not receipt.delivered)


async def _answer(caller: Caller, exchange: SessionExchange) -> ToolAnswer:
    run = None if exchange.session.key.is_main else await caller.services.runs.of_session(exchange.session.id)
    # The whole body: returning it settles the delivery.
    reply = None if exchange.reply is None else harmless(body_of(exchange.reply))
    data: dict[str, Json] = {
        "status": str(exchange.state),
        "sessionKey": str(exchange.session.key),
        "label": exchange.session.label,
        "runId": None if run is None else run.run.id,
        "runStatus": None if run is None else str(run.run.state),
        "round": exchange.round,
        "rounds": exchange.limit,
        "reply": reply,
        "ticket": exchange.ticket,
        "note": await _note(caller, exchange),
    }
    is_error = exchange.state is ExchangeState.FAILED
    return as_json({name: value for name, value in data.items() if value is not None}, is_error=is_error)


async def _note(caller: Caller, exchange: SessionExchange) -> str:
    """Return a sentence about the next step."""
    agent = exchange.session.agent
    if exchange.state is ExchangeState.FAILED:
        return f"{agent} will not reply: {said(exchange.reason)}."
    if exchange.state is ExchangeState.DELIVERED:
        return "It is delivered. An answer, if any, comes to your inbox."
    if exchange.state is ExchangeState.NO_REPLY_YET and exchange.ticket is not None:
        how = await progress_of(caller, await caller.services.dialogue.ticket(exchange.ticket))
        return f"No reply yet: {agent} {how}. It comes to your inbox; to wait on, call again without message."
    if exchange.state is ExchangeState.ENDED:
        return f"{said(exchange.reason).capitalize()}." if exchange.reason else "The talk is over."
    if exchange.ending is NegotiationEnding.LIMIT:
        return f"That was the last of {exchange.limit} rounds: decide with what was said."
    if exchange.is_question:
        return f"{agent} asks back before it replies: answer with another call."
    return f"Go on with another call, or end the talk with message={REPLY_SKIP}."


SESSIONS_SEND: Final = Tool(
    name="sessions_send",
    description=(
        f"Say something to a live session and wait for its reply, up to {LONGEST_WAIT:.0f} seconds; a late "
        "reply comes to your inbox. Calls to the same session are one talk of a few rounds; the message "
        f"{REPLY_SKIP}, alone, ends it, from either side. An answer that you owe is given by the same call. "
        "Without message: keep waiting."
    ),
    parameters=(
        SESSION_KEY,
        LABEL,
        Parameter("message", "what you say"),
        Parameter(
            "timeoutSeconds",
            f"how long to wait, at most {LONGEST_WAIT:.0f}; 0 delivers, and no reply is needed",
            ParameterType.NUMBER,
        ),
        Parameter("replyTo", "number of the message that you answer, instead of a session", ParameterType.MESSAGE),
    ),
    run=_send,
)

LAST: Final = 20
MOST: Final = 200
BODY_CHARS: Final = 4_000
"""The maximal number of characters of each message."""


async def _history(caller: Caller, arguments: Arguments) -> ToolAnswer:
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
    parameters=(SESSION_KEY, LABEL, Parameter("limit", f"how many of the last messages ({LAST})", ParameterType.WHOLE)),
    run=_history,
    is_read_only=True,
)
