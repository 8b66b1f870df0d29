"""Inboxes in SQLite: what waits, and how much of it is queued."""

from collections.abc import Collection, Sequence
from typing import Final

from covey.adapters.sqlite.access import Access
from covey.adapters.sqlite.counts import queued
from covey.adapters.sqlite.delivery_rows import SEQ, delivery_rows, readable
from covey.adapters.sqlite.statements import statements
from covey.core.delivery import Delivery, DeliveryState
from covey.core.ids import InboxId
from covey.core.message import Kind
from covey.core.names import AgentName, Scope, Subject

_SQL = statements("deliveries")
_WAITING = _SQL["waiting"]
_STATES: Final = 3
_KINDS: Final = 5


class SqliteInboxes:
    __slots__ = ("_access",)

    def __init__(self, access: Access) -> None:
        self._access = access

    async def waiting(
        self, inbox: InboxId, states: Collection[DeliveryState], after: int = 0, limit: int = 1000
    ) -> Sequence[Delivery]:
        wanted = _filled(states, _STATES)
        while True:
            rows = delivery_rows(self._access, _WAITING, (inbox, after, *wanted, limit))
            found = readable(rows)
            if found or not rows or len(rows) < limit:
                return found
            after = rows[-1][SEQ]  # a whole page of damaged ones is not the end

    async def queued(self, inbox: InboxId) -> int:
        return queued(self._access, inbox)

    async def oldest(self, inbox: InboxId, kinds: Collection[Kind]) -> Delivery | None:
        found = readable(delivery_rows(self._access, _SQL["oldest"], (inbox, *_filled(kinds, _KINDS))))
        return found[0] if found else None

    async def alike(self, inbox: InboxId, sender: AgentName, scope: Scope, subject: Subject) -> Sequence[Delivery]:
        return readable(delivery_rows(self._access, _SQL["alike"], (inbox, sender, scope, subject)))

    async def occupied(self) -> Sequence[InboxId]:
        return [InboxId(inbox) for (inbox,) in self._access.read(_SQL["occupied"])]


def _filled(words: Collection[str], places: int) -> tuple[str | None, ...]:
    """Return the words, filled up to the number of places that the statement has for them; null fits nothing."""
    distinct = tuple(set(words))
    return distinct + (None,) * (places - len(distinct))
