"""Outcomes of a sent message, in sentences: the agents that have it, that will have it, and that refused it with the
reason."""

from collections.abc import Iterator

from covey.core.json import Json, JsonObject
from covey.core.ledger.delivery import Delivery
from covey.core.ledger.receipt import Receipt
from covey.core.names import AgentName
from covey.toolkits.wording import listed, said


def outcome_lines(receipt: Receipt) -> Iterator[str]:
    """Iterate over lines about the outcome; there are none for a message without recipients."""
    copies = _by_agent(receipt.delivered)
    waiting = [name for name, copy in copies.items() if copy.is_parked]
    there = [name for name in copies if name not in waiting]
    if there:
        yield f"Sent to {listed(there)}."
    if waiting:
        yield f"Kept for {listed(waiting)}, offline now: read when back."
    yield from failures(receipt)


def failures(receipt: Receipt) -> Iterator[str]:
    """Iterate over the refusals, one line each."""
    for copy in receipt.refused:
        code, reason = refusal_of(copy)
        yield f"{copy.agent} did not get it: {said(reason)} ({said(code)})."


def outcome_data(receipt: Receipt) -> JsonObject:
    """Return the outcome as data."""
    delivered: list[Json] = [
        {"agent": name, "state": "waits" if copy.is_parked else "delivered"}
        for name, copy in _by_agent(receipt.delivered).items()
    ]
    refused: list[Json] = []
    for copy in receipt.refused:
        code, reason = refusal_of(copy)
        refused.append({"agent": copy.agent, "code": code, "reason": reason})
    return {"message_id": receipt.message_id, "delivered": delivered, "refused": refused}


def refusal_of(copy: Delivery) -> tuple[str, str]:
    """Return the code and the text of a refusal."""
    code, _, reason = (copy.reason or "").partition(": ")
    return code, reason or code


def _by_agent(copies: tuple[Delivery, ...]) -> dict[AgentName, Delivery]:
    """Return one copy for each agent that has one."""
    return {copy.agent: copy for copy in reversed(copies) if copy.agent is not None}
