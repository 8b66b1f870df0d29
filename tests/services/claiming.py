"""Claims as they come about: a session takes a task to show it, and has it then, whether it shows it or not."""

from covey.core.identity import Identity
from covey.core.ledger.delivery import Delivery
from covey.services.space import Services


async def claim_next(services: Services, actor: Identity) -> Delivery | None:
    """Let a session have the next task of its agent, and show it to no model yet; None where there is none for it."""
    showing = await services.offers.offer(actor, "turn", limit=1)
    if showing is None:
        return None
    (delivery,) = await services.offers.give_back(showing.offer.id, actor, "not shown")
    return delivery
