"""Offers in memory; those that have ended stand on no shelf."""

from collections.abc import Iterable, Sequence

from covey.adapters.memory.table import Order, Shelf, Table
from covey.adapters.memory.undo import UndoLog
from covey.core.ids import OfferId, SessionId
from covey.core.offer import Offer


def _places(offer: Offer) -> Iterable[tuple[Shelf, Order]]:
    if offer.ended_at is None:
        yield offer.session, offer.offered_at


class MemoryOffers:
    def __init__(self, log: UndoLog) -> None:
        self.table = Table[OfferId, Offer](log, _places)

    async def get(self, offer_id: OfferId) -> Offer | None:
        return self.table.get(offer_id)

    async def put(self, offer: Offer) -> None:
        self.table.put(offer.id, offer)

    async def live_of(self, session_id: SessionId) -> Sequence[Offer]:
        return self.table.on(session_id)
