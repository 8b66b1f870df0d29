"""Moves of offers: showing deliveries, and the evidence for it."""

from datetime import timedelta

from hypothesis import strategies as st

from covey.core.identity import Identity
from covey.core.ledger.offer import EvidenceGrade, Presentation
from covey.core.names import DeliveryId, OfferId
from tests.properties.draws import grades, leases, presentations, seldom, which
from tests.properties.moves import move
from tests.properties.twins import Twins


class OfferMoves(Twins):
    @move(6, who=which, presentation=presentations, limit=st.integers(1, 4), lease=leases, choosy=seldom)
    def offer(self, who: int, presentation: Presentation, limit: int, lease: timedelta, choosy: bool) -> None:
        wanted = {DeliveryId(f"{message_id}.1") for message_id in self.messages[::2]} if choosy else None
        showing = self.both(
            lambda services: services.offers.offer(
                self.member(who),
                f"turn {len(self.offers)}",
                presentation=presentation,
                limit=limit,
                wanted=wanted,
                lease=lease,
            )
        )
        if showing is not None:
            self.offers.append((showing.offer.id, showing.offer.deliveries))

    @move(5, offer=which, grade=grades, only_some=seldom, stranger=seldom, who=which)
    def confirm(self, offer: int, grade: EvidenceGrade, only_some: bool, stranger: bool, who: int) -> None:
        offer_id, deliveries = self.pick(self.offers, offer)
        actor = self.actor(who) if stranger else self._holder(offer_id)
        only = deliveries[::2] if only_some else None
        self.both(lambda services: services.offers.confirm(offer_id, actor, grade, "a test", only))

    @move(1, offer=which, stranger=seldom, who=which)
    def give_back(self, offer: int, stranger: bool, who: int) -> None:
        offer_id, _ = self.pick(self.offers, offer)
        actor = self.actor(who) if stranger else self._holder(offer_id)
        self.both(lambda services: services.offers.give_back(offer_id, actor, "not shown"))

    @move(1, who=which, message=which)
    def named(self, who: int, message: int) -> None:
        actor = self.recipient(message, who)
        self.both(lambda services: services.offers.named(self.message(message), actor, "a test"))

    def _holder(self, offer_id: OfferId) -> Identity:
        assert self.before is not None
        offer = self.before.offers[offer_id]
        assert offer is not None
        session = next(session for session in self.sessions if session.id == offer.session)
        return Identity(session.agent, session.id)
