"""Answers of broadcast: the agents that got it, the message that it handled, and the other agents."""

from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from covey.core.attention import OtherAgent
from covey.core.attention_body import body_of
from covey.core.delivery import Delivery
from covey.core.json import Json, JsonObject
from covey.core.message import Message
from covey.core.receipt import Receipt
from covey.core.render_escape import harmless
from covey.toolkits.outcomes import failures
from covey.toolkits.tool import Answer
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
