"""Claims without a showing: a session claims a task by an offer, and keeps the claim when the offer is given back."""

from covey.core.identity import Identity
from covey.core.ledger.delivery import DeliveryRecord
from covey.services.space import Services


async def claim_next(services: Services, actor: Identity) -> DeliveryRecord | None:
    """Claim the next task of the session's agent without showing it to a model; None if there is no task."""
    showing = await services.offers.offer(actor, "turn", limit=1)
    if showing is None:
        return None
    (delivery,) = await services.offers.give_back(showing.offer.id, actor, "not shown")
    return delivery
