"""Waiting mail of the caller, by number."""

from covey.core.errors import NumberUnknown
from covey.core.ledger.delivery import WAITING, Delivery
from covey.toolkits.references import listed_numbers, numbers_of
from covey.toolkits.tool import Answer, Caller


async def waiting_with(caller: Caller, number: int) -> Delivery | Answer:
    """Return the waiting delivery with a number. If there is none, return an answer that says whether it was handled,
    and lists the waiting numbers."""
    try:
        delivery = await caller.services.dialogue.numbered(caller.identity.agent, number)
    except NumberUnknown:
        return await _not_waiting(caller, number, "is not in your inbox")
    return delivery if delivery.state in WAITING else await _not_waiting(caller, number, "is handled already")


async def _not_waiting(caller: Caller, number: int, fault: str) -> Answer:
    numbers = await numbers_of(caller)
    told = f"message #{number} {fault}"
    return Answer(
        f"{told}. {listed_numbers(numbers)}",
        {"error": {"code": NumberUnknown.code, "message": told, "details": {"number": number, "waiting": [*numbers]}}},
        is_error=True,
    )
