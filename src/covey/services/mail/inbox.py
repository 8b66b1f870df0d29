"""The inbox: read-only access to the waiting mail of an agent or a session, without the dependencies of writes."""

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import Final, NamedTuple

import covey.ports as ports
from covey.core.errors import MessageDamaged
from covey.core.ledger.delivery import WAITING, DeliveryRecord, DeliveryState, state_at
from covey.core.ledger.message import Kind, Message
from covey.core.names import OPERATOR, AgentName, InboxId, MessageId, Scope, parked_inbox
from covey.services.records import known_agent, known_message, message_or_notice

PAGE: Final = 64
"""The number of deliveries per read in a search for a matching one."""


FEW: Final = 64
"""Reading this many deliveries takes as long as handing the read to another thread."""


class InboxItem(NamedTuple):
    """A delivery with its message, and its state as a reader sees it now."""

    delivery: DeliveryRecord
    message: Message
    state: DeliveryState


class NextItem(NamedTuple):
    """The next delivery for a reader of an inbox."""

    item: InboxItem | None
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

    def fits(self, item: InboxItem) -> bool:
        return (
            (self.scope is None or item.message.scope == self.scope)
            and (self.kind is None or item.message.kind is self.kind)
            and (self.since is None or item.message.created_at > self.since)
            and (self.until is None or item.message.created_at < self.until)
            and item.state in self.states
        )


class InboxReader:
    def __init__(self, store: "ports.Store", clock: "ports.Clock") -> None:
        self._store = store
        self._clock = clock

    async def peek(self, agent: AgentName, wanted: InboxFilter | None = None, limit: int = 1000) -> Sequence[InboxItem]:
        """Return the mail that waits for an agent, parked or with any of its sessions, by seq. Raise RecipientUnknown
        for an unknown agent; the operator has an inbox even before its first message."""

        async def operation(tx: "ports.Transaction") -> Sequence[InboxItem]:
            if agent != OPERATOR:
                await known_agent(tx, agent)
            inboxes = [parked_inbox(agent), *(session.inbox for session in await tx.sessions.of_agent(agent))]
            return await self._items(tx, inboxes, wanted or InboxFilter(), 0, limit)

        return await self._store.read(operation, is_long=True)

    async def peek_all(self, wanted: InboxFilter | None = None, limit: int = 1000) -> Sequence[InboxItem]:
        """Return the mail that waits for all agents, by agent and seq; at most `limit` items of each agent."""

        async def operation(tx: "ports.Transaction") -> Sequence[InboxItem]:
            items: list[InboxItem] = []
            for agent in sorted({OPERATOR, *(agent.name for agent in await tx.agents.all())}):
                inboxes = [parked_inbox(agent), *(session.inbox for session in await tx.sessions.of_agent(agent))]
                items += await self._items(tx, inboxes, wanted or InboxFilter(), 0, limit)
            return items

        return await self._store.read(operation, is_long=True)

    async def held_tasks(self, items: Sequence[InboxItem]) -> Mapping[MessageId, str]:
        """Return the states of those tasks among the items that were accepted, or that a session holds."""
        ids = [item.message.id for item in items if item.message.kind is Kind.TASK]
        if not ids:
            return {}
        from covey.core.work.task import task_at  # imported late because most mail has no task

        async def operation(tx: "ports.Transaction") -> Mapping[MessageId, str]:
            now = self._clock.now()
            tasks = [task for task in [await tx.tasks.get(task_id) for task_id in ids] if task is not None]
            return {task.id: str(task_at(task, now).state) for task in tasks if task_at(task, now).is_held}

        return await self._store.read(operation)

    async def peek_inbox(
        self,
        inbox: InboxId,
        wanted: InboxFilter | None = None,
        after: int = 0,
        limit: int = 1000,
    ) -> Sequence[InboxItem]:
        """Return the waiting mail of one inbox after a seq."""

        async def operation(tx: "ports.Transaction") -> Sequence[InboxItem]:
            return await self._items(tx, [inbox], wanted or InboxFilter(), after, limit)

        return await self._store.read(operation, is_long=limit > FEW)

    async def next(self, inbox: InboxId, reader: AgentName, after: int, known: Collection[int] = ()) -> NextItem:
        """Return the first delivery of an inbox after a seq that is not among the known ones; none while the reading
        agent is paused. An answer that an asker waits for is passed over."""

        async def operation(tx: "ports.Transaction") -> NextItem:
            from covey.services.directory.settings import (
                is_paused,  # imported late because people look without being readers
            )

            return NextItem(None) if await is_paused(tx, reader) else await self._next(tx, inbox, reader, after, known)

        return await self._store.read(operation)

    async def _next(
        self, tx: "ports.Transaction", inbox: InboxId, reader: AgentName, after: int, known: Collection[int]
    ) -> NextItem:
        now, passed_over = self._clock.now(), False
        while page := await tx.inboxes.waiting(inbox, WAITING, after, PAGE):
            for delivery in page:
                after = delivery.seq
                state = state_at(delivery, now)
                if after in known or state not in WAITING:
                    continue
                try:
                    item = InboxItem(delivery, await known_message(tx, delivery.message_id), state)
                except MessageDamaged:
                    continue  # shown in the inbox's listing, but a reader can't act on it
                if item.message.in_reply_to is None or not await self._is_awaited(tx, item.message, reader, now):
                    return NextItem(item, passed_over)
                passed_over = True
        return NextItem(None, passed_over)

    async def _is_awaited(self, tx: "ports.Transaction", message: Message, agent: AgentName, now: datetime) -> bool:
        from covey.services.mail.waits import is_awaited  # imported late because people look without being readers

        return await is_awaited(tx, message, agent, now)

    async def _items(
        self, tx: "ports.Transaction", inboxes: Sequence[InboxId], wanted: InboxFilter, after: int, limit: int
    ) -> Sequence[InboxItem]:
        items: list[InboxItem] = []
        for inbox in inboxes:
            items += await self._fitting(tx, inbox, wanted, after, limit)
        return sorted(items, key=_by_seq)[:limit]

    async def _fitting(
        self, tx: "ports.Transaction", inbox: InboxId, wanted: InboxFilter, after: int, limit: int
    ) -> Sequence[InboxItem]:
        """Return the first `limit` matching items, no matter how many others come before them."""
        now = self._clock.now()
        items: list[InboxItem] = []
        while page := await tx.inboxes.waiting(inbox, WAITING, after, max(limit, PAGE)):
            for delivery in page:
                after = delivery.seq
                message = await message_or_notice(tx, delivery.message_id, delivery.updated_at)
                item = InboxItem(delivery, message, state_at(delivery, now))
                if wanted.fits(item):
                    items.append(item)
                if len(items) == limit:
                    return items
        return items


def _by_seq(item: InboxItem) -> int:
    return item.delivery.seq
