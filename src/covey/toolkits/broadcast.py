"""The broadcast toolkit: agents that work in parallel tell each other what they do, ask, and reply by number.

The first broadcast to all is the caller's status: the others see it beside its name, and not as a message.
"""

from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from covey.core.attention.pending import Instructions, OtherAgent
from covey.core.errors import Invalid, NoParent, NotFound, NumberUnknown
from covey.core.identity import EVERYONE, Address, AddressKind
from covey.core.json import Json, JsonObject
from covey.core.ledger.delivery import WAITING, DeliveryRecord
from covey.core.ledger.draft import Draft
from covey.core.ledger.message import Kind, Message, TextPart, body_of
from covey.core.ledger.offer import Presentation
from covey.core.ledger.outcome import ReceiptRecord
from covey.core.text.escape import harmless
from covey.services.children.request import SpawnRequest
from covey.services.mail.recipients import SendPolicy
from covey.toolkits.agents import other_party, start_child
from covey.toolkits.answers import MANY_NAMES, clipped, failures, listed, refused, said
from covey.toolkits.arguments import given_text, missing
from covey.toolkits.read_message import READ_MESSAGE_AGAIN, REST
from covey.toolkits.references import check_answerable, listed_numbers, numbers_of, was_named, with_cause
from covey.toolkits.tool import Arguments, Caller, Parameter, ParameterType, Tool, ToolAnswer, Toolkit


async def waiting_with(caller: Caller, number: int) -> DeliveryRecord | ToolAnswer:
    """Return the waiting delivery with a number. If there is none, return an answer that says whether it was handled,
    and lists the waiting numbers."""
    try:
        delivery = await caller.services.dialogue.numbered(caller.identity.agent, number)
    except NumberUnknown:
        return await _not_waiting(caller, number, "is not in your inbox")
    return delivery if delivery.state in WAITING else await _not_waiting(caller, number, "is handled already")


async def _not_waiting(caller: Caller, number: int, fault: str) -> ToolAnswer:
    numbers = await numbers_of(caller)
    told = f"message #{number} {fault}"
    return ToolAnswer(
        f"{told}. {listed_numbers(numbers)}",
        {"error": {"code": NumberUnknown.code, "message": told, "details": {"number": number, "waiting": [*numbers]}}},
        is_error=True,
    )


SOURCE_CHARS: Final = 4000
"""The number of characters of the original message that are quoted in the answer to a reply."""


class AnsweredMessage(NamedTuple):
    """The message that is replied to, with its number."""

    number: int
    message: Message


def announced(others: Sequence[OtherAgent]) -> ToolAnswer:
    """Answer a broadcast that was only a status."""
    lines = ["This is your status now: the others see it beside your name.", *_available(others)]
    return ToolAnswer("\n".join(lines), {"announced": True, **_agents_data(others)})


def sent(
    receipt: ReceiptRecord, source: AnsweredMessage | None, others: Sequence[OtherAgent], is_first: bool
) -> ToolAnswer:
    """Answer a broadcast that was a message."""
    lines = [_reached(receipt), *failures(receipt)]
    if is_first:
        lines.append("It is your status now, too.")
    data: dict[str, Json] = {"sent_to": list(_agents(receipt.delivered)), "refused": list(failures(receipt))}
    if source is not None:
        sender = source.message.sender.agent
        content = harmless(clipped(body_of(source.message), SOURCE_CHARS))
        lines += [f"Marked as handled: #{source.number} from {sender}", *(f"> {line}" for line in content.split("\n"))]
        data["handled"] = {"id": source.number, "from": sender, "content": content}
    is_error = bool(receipt.deliveries) and not receipt.delivered
    return ToolAnswer("\n".join([*lines, *_available(others)]), {**data, **_agents_data(others)}, is_error)


def _available(others: Sequence[OtherAgent]) -> Iterator[str]:
    """Iterate over lines with the other agents and their statuses."""
    yield f"Available agents: {listed([view.name for view in others]) or 'none'}"
    for view in others[:MANY_NAMES]:
        if view.status:
            yield f"- {view.name}: {said(view.status)}"


def _reached(receipt: ReceiptRecord) -> str:
    if not receipt.deliveries:
        return "No other agent is here yet, so no agent got it."
    reached = _agents(receipt.delivered)
    return f"Sent to {listed(reached)}." if reached else "No agent got it."


def _agents(deliveries: Sequence[DeliveryRecord]) -> Sequence[str]:
    return tuple(dict.fromkeys(delivery.agent for delivery in deliveries if delivery.agent is not None))


def _agents_data(others: Sequence[OtherAgent]) -> JsonObject:
    shown = [{"name": view.name, "status": view.status and said(view.status)} for view in others[:MANY_NAMES]]
    return {"agents": shown, "more_agents": max(0, len(others) - MANY_NAMES)}


STATUS_CHARS: Final = 200
"""The maximal length of a status. A longer text is sent as a message, too."""

POLICY: Final = SendPolicy(closes=True)

_MESSAGE: Final = Parameter("message", "your message", is_required=True)


async def _broadcast(caller: Caller, arguments: Arguments) -> ToolAnswer:
    text = str(arguments.get("message", ""))
    if not text.strip():
        raise missing(BROADCAST, _MESSAGE)
    number, send_to = arguments.get("reply_to"), arguments.get("send_to")
    source = await _source(caller, number) if isinstance(number, int) else None
    if isinstance(source, ToolAnswer):
        return source
    to = await _recipient(caller, None if send_to is None else str(send_to).strip(), source)
    # A message to one agent is no status, because all agents would see it.
    is_first = to == EVERYONE and await _is_first(caller)
    if is_first and len(text) <= STATUS_CHARS:
        await caller.services.directory.set_status(caller.identity, text)
        return announced(await _others(caller))
    draft = Draft(
        Kind.RESPONSE if source else Kind.NOTIFY,
        (to,),
        (TextPart(text),),
        in_reply_to=source.message.id if source else None,
    )
    receipt = await caller.services.mail.send(await with_cause(caller, draft), caller.identity, POLICY)
    if source is not None:
        await was_named(caller, source.message.id, BROADCAST.name)
    if is_first:
        await caller.services.directory.set_status(caller.identity, clipped(text, STATUS_CHARS))
    return sent(receipt, source, await _others(caller), is_first)


async def _source(caller: Caller, number: int) -> AnsweredMessage | ToolAnswer:
    found = await waiting_with(caller, number)
    if isinstance(found, ToolAnswer):
        return found
    return AnsweredMessage(number, check_answerable(await caller.services.mail.message(found.message_id), "reply_to"))


async def _recipient(caller: Caller, send_to: str | None, source: AnsweredMessage | None) -> Address:
    """Return the recipient: the named agent, the sender of the message that is replied to, or everyone."""
    if source is not None:
        sender = source.message.sender.agent
        if send_to not in (None, "", sender):
            raise Invalid(
                "send_to", send_to, f"a reply to #{source.number} goes to {sender} by itself: leave send_to out"
            )
        return Address(AddressKind.AGENT, sender)
    if not send_to or send_to == EVERYONE.value:
        return EVERYONE
    return await other_party(caller, send_to, "send_to")


async def _is_first(caller: Caller) -> bool:
    """Tell whether the caller has not announced its status yet."""
    try:
        return await caller.services.directory.status_of(caller.identity) is None
    except NotFound:  # a claimed identity that is unknown here has no status
        return False


async def _others(caller: Caller) -> Sequence[OtherAgent]:
    return await caller.services.attention.company(caller.identity)


BROADCAST: Final = Tool(
    name="broadcast",
    description=(
        "Send a message to the other agents: to all, to one (send_to), or to the sender of a message that you were "
        "shown (reply_to). Your first broadcast to all is your status: say what you are working on, and the others see "
        "it beside your name. A message to you stays in your inbox until you reply to it or dismiss it."
    ),
    parameters=(
        _MESSAGE,
        Parameter("send_to", "name of one agent, as you were shown it; left out, all get it"),
        Parameter(
            "reply_to",
            "id (number) of the message that you answer: it goes to its sender and is handled",
            ParameterType.WHOLE,
        ),
    ),
    run=_broadcast,
    has_own_gates=True,
)


async def _dismiss(caller: Caller, arguments: Arguments) -> ToolAnswer:
    number = arguments["id"]
    assert isinstance(number, int)
    delivery = await waiting_with(caller, number)
    if isinstance(delivery, ToolAnswer):
        return delivery
    await caller.services.mail.settle(delivery.message_id, caller.identity, "dismissed")
    await was_named(caller, delivery.message_id, DISMISS.name)
    owed = f" {delivery.sender} still waits for an answer." if delivery.expects_reply else ""
    return ToolAnswer(
        f"Marked as handled: #{number} from {delivery.sender}{owed and '.'}{owed}",
        {"handled": {"id": number, "from": delivery.sender}},
    )


DISMISS: Final = Tool(
    name="dismiss",
    description="Take a message that needs no reply out of your inbox. Its sender is not told.",
    parameters=(Parameter("id", "id (number) of the message", ParameterType.WHOLE, is_required=True),),
    run=_dismiss,
)

MAIN_SESSION: Final = (
    "spawn can only be called from subagent sessions, which have a parent. In a main session, start a task of your own "
    "with your own tool for that."
)


async def _spawn(caller: Caller, arguments: Arguments) -> ToolAnswer:
    prompt, description = given_text(arguments, "prompt"), given_text(arguments, "description") or ""
    if prompt is None:
        raise Invalid("prompt", "", "say what the new agent is to do")
    wish = SpawnRequest(prompt, description=clipped(description), is_sibling=True, is_newcomer=True)
    try:
        run = await start_child(caller, wish)
    except NoParent as error:
        return refused(error, MAIN_SESSION)
    what = f" ({said(description)})" if description else ""
    return ToolAnswer(
        f"{run.agent}{what} works beside you now. Its result goes to {run.parent_agent}, who started you. To talk to "
        f'it: broadcast(send_to="{run.agent}", message=…).',
        {"agent": run.agent, "sessionKey": str(run.key), "runId": run.id, "parent": run.parent_agent},
    )


SPAWN: Final = Tool(
    name="spawn",
    description=(
        "Start a new agent that works beside you on something of its own. You don't wait; it sees your broadcasts, and "
        "you see its. Only for agents that were started by another one."
    ),
    parameters=(
        Parameter("prompt", "the task for the new agent: all that it needs to know", is_required=True),
        Parameter("description", "the task in three to five words"),
    ),
    run=_spawn,
)

TOOLKIT: Final = Toolkit(
    name="broadcast",
    about="parallel agents that tell all, ask one, and reply by number",
    instructions=(
        "Other agents work beside you. Announce yourself first: broadcast what you are working on. Results of "
        "broadcast that you did not call yourself show you who else is there and what they wrote to you; a message "
        "stays there until you reply to it (reply_to) or dismiss it."
    ),
    tools=(BROADCAST, DISMISS, SPAWN, READ_MESSAGE_AGAIN),
    presentation=Presentation.UNTIL_HANDLED,
    ways=Instructions(
        more="reply to or dismiss some of these; the others follow",
        rest=REST,
        answer="broadcast(reply_to=NUMBER, message=…)",
        decide='broadcast(reply_to={number}, message=JSON), JSON being {{"approve": true}}, or false and a "reason"',
        task="",
    ),
)
