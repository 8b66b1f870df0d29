"""What waits for the caller, by number."""

from covey.core.delivery import WAITING, Delivery
from covey.core.errors import NumberUnknown
from covey.toolkits.tool import Answer, Caller
from covey.toolkits.wording import listed


async def waiting_with(caller: Caller, number: int) -> Delivery | Answer:
    """Return what waits for the caller under a number. Where nothing does, an answer: whether it was handled, and what
    waits."""
    try:
        delivery = await caller.services.dialogue.numbered(caller.identity.agent, number)
    except NumberUnknown:
        return await _not_waiting(caller, number, "is not in your inbox")
    return delivery if delivery.state in WAITING else await _not_waiting(caller, number, "is handled already")


async def _not_waiting(caller: Caller, number: int, fault: str) -> Answer:
    items = await caller.services.looking.peek(caller.identity.agent)
    numbers = {item.delivery.number: item.message.sender.agent for item in items}
    waiting = [f"#{waiting} from {sender}" for waiting, sender in numbers.items()]
    told = f"message #{number} {fault}"
    return Answer(
        f"{told}. Waiting: {listed(waiting) or 'nothing'}.",
        {"error": {"code": NumberUnknown.code, "message": told, "details": {"number": number, "waiting": [*numbers]}}},
        is_error=True,
    )
