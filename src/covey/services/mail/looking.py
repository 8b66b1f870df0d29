"""Looking: read-only access to the waiting mail of an agent or a session, without the dependencies of writes."""

from collections.abc import Collection, Sequence
from datetime import datetime
from typing import Final, NamedTuple

import covey.ports as ports
from covey.core.errors import MessageDamaged
from covey.core.ids import InboxId, parked_inbox
from covey.core.ledger.delivery import WAITING, Delivery, DeliveryState, state_at
from covey.core.ledger.message import Kind, Message
from covey.core.names import OPERATOR, AgentName, Scope
from covey.services.known import known_agent, known_message
from covey.services.mail.damage import message_or_notice

PAGE: Final = 64
"""The number of deliveries per read in a search for a matching one."""


FEW: Final = 64
"""Reading this many deliveries takes as long as handing the read to another thread."""


class Item(NamedTuple):
    """A delivery with its message, and its state as a reader sees it now."""

    delivery: Delivery
    message: Message
    state: DeliveryState


class Next(NamedTuple):
    """The next delivery for a reader of an inbox."""

    item: Item | None
    passed_over: bool = False
    """True if a delivery before this one is awaited by an asker, and may become the reader's later."""


class InboxFilter(NamedTuple):
    """A filter of deliveries; a field that is None matches everything."""

    scope: Scope | None = None
    kind: Kind | None = None
    since: datetime | None = None
    """Match messages sent after this time."""
    until: datetime | None = None
    """Match messages sent before this time."""
    states: Collection[DeliveryState] = WAITING

    def fits(self, item: Item) -> bool:
        return (
            (self.scope is None or item.message.scope == self.scope)
            and (self.kind is None or item.message.kind is self.kind)
            and (self.since is None or item.message.created_at > self.since)
            and (self.until is None or item.message.created_at < self.until)
            and item.state in self.states
        )


class Looking:
    def __init__(self, store: "ports.Store", clock: "ports.Clock") -> None:
        self._store = store
        self._clock = clock

    async def peek(self, agent: AgentName, wanted: InboxFilter | None = None, limit: int = 1000) -> Sequence[Item]:
        """Return the mail that waits for an agent, parked or with any of its sessions, by seq. Raise RecipientUnknown
        for an unknown agent; the operator has an inbox even before its first message."""

        async def operation(tx: "ports.Transaction") -> Sequence[Item]:
            if agent != OPERATOR:
                await known_agent(tx, agent)
            inboxes = [parked_inbox(agent), *(session.inbox for session in await tx.sessions.of_agent(agent))]
            return await self._items(tx, inboxes, wanted or InboxFilter(), 0, limit)

        return await self._store.read(operation, is_long=True)

    async def peek_inbox(
        self,
        inbox: InboxId,
        wanted: InboxFilter | None = None,
        after: int = 0,
        limit: int = 1000,
    ) -> Sequence[Item]:
        """Return the waiting mail of one inbox after a seq."""

        async def operation(tx: "ports.Transaction") -> Sequence[Item]:
            return await self._items(tx, [inbox], wanted or InboxFilter(), after, limit)

        return await self._store.read(operation, is_long=limit > FEW)

    async def next(self, inbox: InboxId, reader: AgentName, after: int, known: Collection[int] = ()) -> Next:
        """Return the first delivery of an inbox after a seq that is not among the known ones; none while the reading
        agent is paused. An answer that an asker waits for is passed over."""

        async def operation(tx: "ports.Transaction") -> Next:
            from covey.services.directory.pauses import (
                is_paused,  # imported late because people look without being readers
            )

            return Next(None) if await is_paused(tx, reader) else await self._next(tx, inbox, reader, after, known)

        return await self._store.read(operation)

    async def _next(
        self, tx: "ports.Transaction", inbox: InboxId, reader: AgentName, after: int, known: Collection[int]
    ) -> Next:
        now, passed_over = self._clock.now(), False
        while page := await tx.inboxes.waiting(inbox, WAITING, after, PAGE):
            for delivery in page:
                after = delivery.seq
                state = state_at(delivery, now)
                if after in known or state not in WAITING:
                    continue
                try:
                    item = Item(delivery, await known_message(tx, delivery.message_id), state)
                except MessageDamaged:
                    continue  # shown in the inbox's listing, but a reader can't act on it
                if item.message.in_reply_to is None or not await self._is_awaited(tx, item.message, reader, now):
                    return Next(item, passed_over)
                passed_over = True
        return Next(None, passed_over)

    async def _is_awaited(self, tx: "ports.Transaction", message: Message, agent: AgentName, now: datetime) -> bool:
        from covey.services.mail.awaited import is_awaited  # imported late because people look without being readers

        return await is_awaited(tx, message, agent, now)

    async def _items(
        self, tx: "ports.Transaction", inboxes: Sequence[InboxId], wanted: InboxFilter, after: int, limit: int
    ) -> Sequence[Item]:
        items: list[Item] = []
        for inbox in inboxes:
            items += await self._fitting(tx, inbox, wanted, after, limit)
        return sorted(items, key=_by_seq)[:limit]

    async def _fitting(
        self, tx: "ports.Transaction", inbox: InboxId, wanted: InboxFilter, after: int, limit: int
    ) -> Sequence[Item]:
        """Return the first `limit` matching items, no matter how many others come before them."""
        now = self._clock.now()
        items: list[Item] = []
        while page := await tx.inboxes.waiting(inbox, WAITING, after, max(limit, PAGE)):
            for delivery in page:
                after = delivery.seq
                message = await message_or_notice(tx, delivery.message_id, delivery.updated_at)
                item = Item(delivery, message, state_at(delivery, now))
                if wanted.fits(item):
                    items.append(item)
                if len(items) == limit:
                    return items
        return items


def _by_seq(item: Item) -> int:
    return item.delivery.seq
