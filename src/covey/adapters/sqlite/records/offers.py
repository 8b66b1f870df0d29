"""Offers in SQLite."""

from collections.abc import Sequence
from datetime import timedelta
from typing import Final

from covey.adapters.sqlite.engine.access import Access
from covey.adapters.sqlite.engine.connection import Row
from covey.adapters.sqlite.engine.statements import statements
from covey.adapters.sqlite.records.values import (
    from_json,
    record_of,
    to_instant,
    to_instant_or_none,
    to_text,
    to_text_or_null,
)
from covey.core.ids import OfferId, SessionId
from covey.core.json import to_json
from covey.core.ledger.evidence import Extent
from covey.core.ledger.offer import Offer, Presentation

_SQL = statements("offers")
_MICROSECOND: Final = timedelta(microseconds=1)


class SqliteOffers:
    __slots__ = ("_access",)

    def __init__(self, access: Access) -> None:
        self._access = access

    async def get(self, offer_id: OfferId) -> Offer | None:
        row = self._access.read(_SQL["get"], (offer_id,)).fetchone()
        return None if row is None else decode_offer(row)

    async def put(self, offer: Offer) -> None:
        row = (
            offer.id,
            offer.session,
            offer.turn,
            to_json(offer.deliveries),
            to_text(offer.offered_at),
            to_text(offer.lease_until),
            offer.presentation,
            to_text_or_null(offer.ended_at),
            offer.end_reason,
            offer.lease // _MICROSECOND,
            to_json(offer.extents) if offer.extents else None,
        )
        self._access.write(_SQL["put"], row)

    async def live_of(self, session_id: SessionId) -> Sequence[Offer]:
        return [decode_offer(row) for row in self._access.read(_SQL["live_of"], (session_id,))]


@record_of("offers")
def decode_offer(row: Row) -> Offer:
    """Return the offer of a row."""
    (
        offer_id,
        session,
        turn,
        deliveries,
        offered_at,
        lease_until,
        presentation,
        ended_at,
        end_reason,
        lease_us,
        extents,
    ) = row
    return Offer(
        offer_id,
        session,
        turn,
        tuple(from_json(deliveries)),
        to_instant(offered_at),
        to_instant(lease_until),
        Presentation(presentation),
        to_instant_or_none(ended_at),
        end_reason,
        timedelta(microseconds=lease_us),
        () if extents is None else tuple([Extent(*extent) for extent in from_json(extents)]),
    )
