"""Leases of offers: a sign of life renews them, and without one they expire."""

from covey.core.directory.session import Session
from covey.core.ledger.delivery import LEASE_ENDED, DeliveryRecord, DeliveryState, Move
from covey.core.ledger.event import Action
from covey.core.ledger.offer import Offer
from covey.core.names import AgentName
from covey.services.act import Act, journal, shift


async def renew(act: Act, session: Session) -> None:
    """Renew the leases of a session's offers. An expired offer is not revived; an offer that holds no delivery any more
    is ended."""
    for offer in await act.tx.offers.live_of(session.id):
        if not offer.is_live(act.now):
            continue
        held = await held_by(act, offer)
        if not held:
            await end_offer(act, offer, session.agent, "it holds nothing")
            continue
        lease_until = act.now + offer.lease
        await act.tx.offers.put(offer._replace(lease_until=lease_until))
        for delivery in held:
            await act.tx.deliveries.put(delivery._replace(lease_until=lease_until))
        await journal(act, Action.OFFER_RENEWED, agent=session.agent, offer=offer.id)


async def lapse(act: Act, delivery: DeliveryRecord) -> None:
    """End the expired offer that holds a delivery. Everything it holds is queued again."""
    offer = await act.tx.offers.get(delivery.offer) if delivery.offer else None
    for held in await held_by(act, offer) if offer else (delivery,):
        await shift(act, held, Move.RETURN, LEASE_ENDED)
    if offer is not None and offer.ended_at is None:
        await end_offer(act, offer, delivery.agent, LEASE_ENDED)


async def held_by(act: Act, offer: Offer) -> list[DeliveryRecord]:
    """Return the deliveries that an offer still holds."""
    found = [await act.tx.deliveries.get(delivery_id) for delivery_id in offer.deliveries]
    return [d for d in found if d is not None and d.offer == offer.id and d.state is DeliveryState.OFFERED]


async def end_offer(act: Act, offer: Offer, agent: AgentName | None, reason: str) -> None:
    """Record that an offer is over. Evidence for it still counts."""
    await act.tx.offers.put(offer._replace(ended_at=act.now, end_reason=reason))
    await journal(act, Action.OFFER_ENDED, agent=agent, offer=offer.id, reason=reason)
