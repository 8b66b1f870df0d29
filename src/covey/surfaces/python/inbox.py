"""The inbox of a member: an async iterator that a push wakes. Reading never consumes."""

from collections.abc import AsyncIterator, Sequence
from typing import Unpack

from covey.core.checks import file as parse_file
from covey.core.checks import instance, seconds
from covey.core.identity import Identity
from covey.core.ledger.delivery import DeliveryRecord as Record
from covey.core.ledger.delivery import DeliveryState
from covey.core.ledger.message import FilePart, Message
from covey.core.names import InboxId, MessageId, inbox_topic
from covey.core.work.approval import ApprovalRequest, requested
from covey.services.mail.inbox import InboxFilter, InboxItem, NextItem
from covey.services.space import Services
from covey.surfaces.python.messages import MessageOptions, Receipt, decide, reply_to


class Delivery:
    """One message in one inbox, with the actions of its recipient."""

    def __init__(self, item: InboxItem, services: Services, actor: Identity) -> None:
        self._item = item
        self._services = services
        self._actor = actor

    @property
    def message(self) -> Message:
        return self._item.message

    @property
    def record(self) -> Record:
        """The ledger's entry: id, seq, number, evidence."""
        return self._item.delivery

    @property
    def id(self) -> MessageId:
        """The message's id."""
        return self._item.message.id

    @property
    def text(self) -> str:
        return self._item.message.text

    @property
    def sender(self) -> Identity:
        """The identity of the sender, with the grade of its proof."""
        return self._item.message.sender

    @property
    def state(self) -> DeliveryState:
        """The state when the delivery was read."""
        return self._item.state

    @property
    def number(self) -> int:
        """The delivery's number for the recipient agent: 1, 2, 3…"""
        return self._item.delivery.number

    async def reply(self, text: str, *, close: bool = True, **options: Unpack[MessageOptions]) -> Receipt:
        """Answer the message, and close the question. With `close=False` it stays owed until `archive`."""
        return await reply_to(self._services, self._actor, self.id, text, options, close=close)

    @property
    def approval(self) -> ApprovalRequest | None:
        """The request for approval in the message, or None. Answer such a request with `approve` or `reject`."""
        return requested(self.message)

    async def approve(self, reason: str = "") -> Receipt:
        """Approve the request in the message. The first decision counts."""
        return await decide(self._services, self._actor, self.id, True, reason)

    async def reject(self, reason: str) -> Receipt:
        """Reject the request in the message, with a reason."""
        return await decide(self._services, self._actor, self.id, False, reason)

    async def handle(self) -> None:
        """Mark the delivery as handled."""
        await self._services.mail.settle(self.id, self._actor, "handled")

    async def dismiss(self) -> None:
        """Dismiss the delivery. A debt that its message carries stays owed."""
        await self._services.mail.settle(self.id, self._actor, "dismissed")

    async def archive(self) -> None:
        """Archive the message. A request must have been answered first."""
        await self._services.dialogue.archive(self.id, self._actor)

    @property
    def files(self) -> tuple[FilePart, ...]:
        """The file parts of the message."""
        return tuple(part for part in self.message.parts if isinstance(part, FilePart))

    async def file(self, part: FilePart) -> bytes:
        """Return the content of one of the message's file parts."""
        return await self._services.attachments.content(parse_file(part))

    def __repr__(self) -> str:
        return f"<Delivery #{self.number} {self.message.kind} from {self.sender}: {self.state}>"


class Inbox:
    """The waiting deliveries of one session. Iteration yields each delivery once, in the order of arrival, and waits
    for more. A delivery that is being shown to a model is yielded too: reading is independent of showing."""

    def __init__(self, inbox: InboxId, services: Services, actor: Identity) -> None:
        self._inbox = inbox
        self._services = services
        self._actor = actor
        self._after = 0
        self._known: set[int] = set()
        """Seqs of the deliveries that were yielded after `_after`. Before them is an answer that an asker waits for. If
        the asker gives up, the inbox must still yield that answer."""
        self._is_awaited = False
        """True if the last call had to wait. The next delivery is then probably not there yet either."""

    async def peek(self, wanted: InboxFilter | None = None) -> Sequence[Delivery]:
        """Return all waiting deliveries at once, without any change."""
        if wanted is not None:
            instance(InboxFilter, wanted, "filter", "use an InboxFilter")
        return [self._delivery(item) for item in await self._services.inbox.peek_inbox(self._inbox, wanted)]

    async def next(self, timeout: float | None) -> Delivery | None:
        """Return the next delivery that this inbox object has not yielded yet, or None after `timeout` seconds;
        `timeout=None` waits without limit. A paused agent gets no deliveries. An answer that an `ask` of this agent
        waits for is returned only by that `ask`."""

        looks = 0

        async def look() -> NextItem | None:
            nonlocal looks
            looks += 1
            found = await self._services.inbox.next(self._inbox, self._actor.agent, self._after, self._known)
            return None if found.item is None else found

        waiting, topics, limit = self._services.waiting, [inbox_topic(self._inbox)], seconds(timeout, "timeout")
        if self._is_awaited and limit > 0:
            found, self._is_awaited = await waiting.expected(topics, look, limit)
        else:
            found = await waiting.until(topics, look, limit)
            self._is_awaited = looks > 1
        if found is None or found.item is None:
            return None
        if found.passed_over:
            self._known.add(found.item.delivery.seq)
        else:
            self._after = found.item.delivery.seq
            self._known = {seq for seq in self._known if seq > self._after}
        return self._delivery(found.item)

    async def __aiter__(self) -> AsyncIterator[Delivery]:
        while True:
            delivery = await self.next(timeout=None)
            if delivery is not None:
                yield delivery

    def _delivery(self, item: InboxItem) -> Delivery:
        return Delivery(item, self._services, self._actor)
