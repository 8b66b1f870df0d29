"""Deliveries in SQLite."""

from collections.abc import Sequence
from datetime import datetime

import apsw

from covey.adapters.sqlite.engine.access import Access
from covey.adapters.sqlite.engine.connection import Row
from covey.adapters.sqlite.engine.statements import statements
from covey.adapters.sqlite.records.delivery_rows import (
    decode_delivery,
    delivery_rows,
    encode_delivery,
    placed,
    readable,
    split_id,
)
from covey.adapters.sqlite.records.inboxes import change_queued
from covey.adapters.sqlite.records.values import to_text
from covey.core.ids import DeliveryId, InboxId, MessageId
from covey.core.ledger.delivery import Delivery, DeliveryState, lapses_at
from covey.core.names import AgentName, Scope

_SQL = statements("deliveries")
_ADD = _SQL["add"]
_MOVE = _SQL["move"]
_PUT = _SQL["put"]
_WHERE = _SQL["where"]

Place = tuple[InboxId, str]
"""The inbox and the state of a delivery."""


class SqliteDeliveries:
    __slots__ = ("_access",)

    def __init__(self, access: Access) -> None:
        self._access = access

    async def get(self, delivery_id: DeliveryId) -> Delivery | None:
        row = self._access.read(_SQL["get"], split_id(delivery_id)).fetchone()
        return None if row is None else decode_delivery(row)

    async def place(self, delivery: Delivery) -> Delivery:
        seq = self._access.next_number()
        checksum, *values = encode_delivery(delivery)
        row = (checksum, seq, delivery.inbox, *values)
        # A delivery without a seq was never placed, unless its caller built it again. So the insert comes before the
        # lookup.
        before = self._where(delivery) if delivery.seq else None
        if before is None:
            try:
                self._access.write(_ADD, row)
            except apsw.ConstraintError:
                before = self._where(delivery)
                if before is None:
                    raise
        if before is not None:
            self._access.write(_MOVE, row)
        self._count(before, delivery)
        return placed(delivery, seq)

    async def put(self, delivery: Delivery) -> None:
        before = self._where(delivery)
        if before is None or before[0] != delivery.inbox:
            raise LookupError(f"delivery {delivery.id} was not placed there; only `place` moves one")
        self._access.write(_PUT, encode_delivery(delivery))
        self._count(before, delivery)

    async def of_message(self, message_id: MessageId) -> Sequence[Delivery]:
        return self._find("of_message", (message_id,))

    async def unsettled_in(self, scope: Scope) -> Sequence[Delivery]:
        return self._find("unsettled_in", (scope,))

    async def handled(self, agent: AgentName, number: int) -> Sequence[Delivery]:
        return self._find("handled", (agent, number))

    async def lapsed(self, now: datetime, limit: int) -> Sequence[Delivery]:
        until = (to_text(now), limit)
        # Damaged deliveries are skipped: an error here would block all other lapsed deliveries.
        leases, dates = (delivery_rows(self._access, _SQL[name], until) for name in ("lapsed_leases", "lapsed_dates"))
        return sorted((*readable(leases), *readable(dates)), key=_lapse)[:limit]

    def _find(self, name: str, values: Row) -> Sequence[Delivery]:
        return [decode_delivery(row) for row in self._access.read(_SQL[name], values)]

    def _where(self, delivery: Delivery) -> Place | None:
        return self._access.read(_WHERE, split_id(delivery.id)).fetchone()

    def _count(self, before: Place | None, after: Delivery) -> None:
        """Update the count of queued deliveries of each inbox."""
        if before is not None:
            if before == (after.inbox, after.state):
                return
            if before[1] == DeliveryState.QUEUED:
                change_queued(self._access, before[0], -1)
        if after.state is DeliveryState.QUEUED:
            change_queued(self._access, after.inbox, +1)


def _lapse(delivery: Delivery) -> tuple[datetime | None, int]:
    return lapses_at(delivery), delivery.seq
