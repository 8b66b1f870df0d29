"""The offer: one showing of deliveries to a model, which holds them for the time of its lease."""

from datetime import datetime, timedelta
from enum import StrEnum
from typing import NamedTuple

from covey.core.ids import DeliveryId, OfferId, SessionId
from covey.core.ledger.evidence import Extent
from covey.core.limits import OFFER_LEASE


class Presentation(StrEnum):
    """The policy of showing a delivery again; it is independent of the delivery's state."""

    ONCE = "once"
    """Show a delivery until there is evidence that it was in context."""

    UNTIL_HANDLED = "until_handled"
    """Show a delivery in every model call until it is handled."""


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
    """The time by which a renewal extends the offer."""
    extents: tuple[Extent, ...] = ()
    """The shown extent of each delivery, in their order. Offers of older versions have none: they count as whole."""

    def extent_of(self, delivery: DeliveryId) -> Extent | None:
        """Return the extent that the offer shows of a delivery; None if that is not known."""
        return self.extents[self.deliveries.index(delivery)] if self.extents else None

    def is_live(self, now: datetime) -> bool:
        return self.ended_at is None and self.lease_until > now
