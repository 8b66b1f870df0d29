"""The offer: one showing of deliveries to a model, held for a while."""

from datetime import datetime, timedelta
from enum import StrEnum
from typing import NamedTuple

from covey.core.extent import Extent
from covey.core.ids import DeliveryId, OfferId, SessionId
from covey.core.limits import OFFER_LEASE


class Presentation(StrEnum):
    """How often a delivery is shown; a policy beside its state."""

    ONCE = "once"
    """Until there is evidence that it was in context."""

    UNTIL_HANDLED = "until_handled"
    """In every model call until it is handled."""


class Offer(NamedTuple):
    id: OfferId
    session: SessionId
    turn: str
    """The caller's name for the model call that the offer was made for."""
    deliveries: tuple[DeliveryId, ...]
    offered_at: datetime
    lease_until: datetime
    presentation: Presentation = Presentation.ONCE
    ended_at: datetime | None = None
    end_reason: str | None = None
    lease: timedelta = OFFER_LEASE
    """What a sign of life renews it for."""
    extents: tuple[Extent, ...] = ()
    """How much of each delivery it shows, in their order. Offers of older versions have none: they count as whole."""

    def extent_of(self, delivery: DeliveryId) -> Extent | None:
        """Return how much of a delivery it shows; None where that is not known."""
        return self.extents[self.deliveries.index(delivery)] if self.extents else None

    def is_live(self, now: datetime) -> bool:
        return self.ended_at is None and self.lease_until > now
