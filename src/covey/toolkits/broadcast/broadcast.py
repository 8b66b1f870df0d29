"""broadcast: tell all agents, tell one, or reply to a message by its number.

The first broadcast to all is the caller's status: the others see it beside its name, and not as a message.
"""

from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from covey.core.address import EVERYONE, Address, AddressKind
from covey.core.attention.pending import OtherAgent
from covey.core.errors import Invalid, NotFound
from covey.core.json import Json, JsonObject
from covey.core.ledger.body import body_of
from covey.core.ledger.delivery import Delivery
from covey.core.ledger.draft import Draft
from covey.core.ledger.message import Kind, Message, TextPart
from covey.core.ledger.receipt import Receipt
from covey.core.text.escape import harmless
from covey.services.mail.recipients import SendPolicy
from covey.toolkits.arguments import missing
from covey.toolkits.broadcast.inbox import waiting_with
from covey.toolkits.leading import led
from covey.toolkits.others import other_party
from covey.toolkits.outcomes import failures
from covey.toolkits.references import check_answerable, was_named
from covey.toolkits.tool import Answer, Arguments, Caller, Form, Parameter, Tool
from covey.toolkits.wording import MANY_NAMES, clipped, listed, said

SOURCE_CHARS: Final = 4000
"""The number of characters of the original message that are quoted in the answer to a reply."""


class Source(NamedTuple):
    """The message that is replied to, with its number."""

    number: int
    message: Message


def announced(others: Sequence[OtherAgent]) -> Answer:
    """Answer a broadcast that was only a status."""
    lines = ["This is your status now: the others see it beside your name.", *_available(others)]
    return Answer("\n".join(lines), {"announced": True, **_agents_data(others)})


def sent(receipt: Receipt, source: Source | None, others: Sequence[OtherAgent], is_first: bool) -> Answer:
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
    return Answer("\n".join([*lines, *_available(others)]), {**data, **_agents_data(others)}, is_error)


def _available(others: Sequence[OtherAgent]) -> Iterator[str]:
    """Iterate over lines with the other agents and their statuses."""
    yield f"Available agents: {listed([view.name for view in others]) or 'none'}"
    for view in others[:MANY_NAMES]:
        if view.status:
            yield f"- {view.name}: {said(view.status)}"


def _reached(receipt: Receipt) -> str:
    if not receipt.deliveries:
        return "Nobody else is here yet, so nobody got it."
    reached = _agents(receipt.delivered)
    return f"Sent to {listed(reached)}." if reached else "Nobody got it."


def _agents(deliveries: Sequence[Delivery]) -> Sequence[str]:
    return tuple(dict.fromkeys(delivery.agent for delivery in deliveries if delivery.agent is not None))


def _agents_data(others: Sequence[OtherAgent]) -> JsonObject:
    shown = [{"name": view.name, "status": view.status and said(view.status)} for view in others[:MANY_NAMES]]
    return {"agents": shown, "more_agents": max(0, len(others) - MANY_NAMES)}


STATUS_CHARS: Final = 200
"""The maximal length of a status. A longer text is sent as a message, too."""

POLICY: Final = SendPolicy(closes=True)

_MESSAGE: Final = Parameter("message", "your message", is_required=True)


async def _run(caller: Caller, arguments: Arguments) -> Answer:
    text = str(arguments.get("message", ""))
    if not text.strip():
        raise missing(BROADCAST, _MESSAGE)
    number, send_to = arguments.get("reply_to"), arguments.get("send_to")
    source = await _source(caller, number) if isinstance(number, int) else None
    if isinstance(source, Answer):
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
    receipt = await caller.services.mail.send(await led(caller, draft), caller.identity, POLICY)
    if source is not None:
        await was_named(caller, source.message.id, BROADCAST.name)
    if is_first:
        await caller.services.directory.set_status(caller.identity, clipped(text, STATUS_CHARS))
    return sent(receipt, source, await _others(caller), is_first)


async def _source(caller: Caller, number: int) -> Source | Answer:
    found = await waiting_with(caller, number)
    if isinstance(found, Answer):
        return found
    return Source(number, check_answerable(await caller.services.mail.message(found.message_id), "reply_to"))


async def _recipient(caller: Caller, send_to: str | None, source: Source | None) -> Address:
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
            "reply_to", "id (number) of the message that you answer: it goes to its sender and is handled", Form.WHOLE
        ),
    ),
    run=_run,
    has_own_gates=True,
)
