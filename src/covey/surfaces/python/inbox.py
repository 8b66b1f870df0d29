"""A member's inbox: an async iterator that a push wakes; reading never consumes."""

from collections.abc import AsyncIterator, Sequence
from typing import Unpack

from covey.core.checks import file as parse_file
from covey.core.checks import instance, seconds
from covey.core.identity import Identity
from covey.core.ids import InboxId, MessageId, inbox_topic
from covey.core.ledger.delivery import Delivery as Record
from covey.core.ledger.delivery import DeliveryState
from covey.core.ledger.message import FilePart, Message
from covey.core.work.approval import ApprovalRequest, requested
from covey.services.mail.looking import InboxFilter, Item, Next
from covey.services.space import Services
from covey.surfaces.python.approvals import decide
from covey.surfaces.python.options import MessageOptions
from covey.surfaces.python.receipt import Receipt
from covey.surfaces.python.replies import reply_to

WAIT_SECONDS = 3600.0
"""How long the iterator waits at a time; it then waits again."""


class Delivery:
    """One message in one inbox, with what its recipient can do about it."""

    def __init__(self, item: Item, services: Services, actor: Identity) -> None:
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
        """Who sent it, and how sure the space is of that."""
        return self._item.message.sender

    @property
    def state(self) -> DeliveryState:
        """Its state when it was looked at."""
        return self._item.state

    @property
    def number(self) -> int:
        """Its number for the recipient agent: 1, 2, 3…"""
        return self._item.delivery.number

    async def reply(self, text: str, *, close: bool = False, **options: Unpack[MessageOptions]) -> Receipt:
        """Answer it. With `close` the debt is closed too, instead of waiting to be archived."""
        return await reply_to(self._services, self._actor, self.id, text, options, close=close)

    @property
    def approval(self) -> ApprovalRequest | None:
        """What it asks to be approved; None where it does not. It is answered with `approve` or `reject`."""
        return requested(self.message)

    async def approve(self, reason: str = "") -> Receipt:
        """Approve what it asks for. The first decision counts."""
        return await decide(self._services, self._actor, self.id, True, reason)

    async def reject(self, reason: str) -> Receipt:
        """Reject what it asks for, and say why."""
        return await decide(self._services, self._actor, self.id, False, reason)

    async def handle(self) -> None:
        """Mark it as handled."""
        await self._services.mail.settle(self.id, self._actor, "handled")

    async def dismiss(self) -> None:
        """Put it aside. A debt it carries stays owed."""
        await self._services.mail.settle(self.id, self._actor, "dismissed")

    async def archive(self) -> None:
        """Put it away; a request must have been answered."""
        await self._services.dialogue.archive(self.id, self._actor)

    @property
    def files(self) -> tuple[FilePart, ...]:
        """Its file parts."""
        return tuple(part for part in self.message.parts if isinstance(part, FilePart))

    async def file(self, part: FilePart) -> bytes:
        """Return the content of one of its file parts."""
        return await self._services.attachments.content(parse_file(part))

    def __repr__(self) -> str:
        return f"<Delivery #{self.number} {self.message.kind} from {self.sender}: {self.state}>"


class Inbox:
    """What waits for one session. Iterating yields each delivery once, in the order of arrival, and waits for more; one
    that is being shown to a model is yielded too, because looking has nothing to do with showing."""

    def __init__(self, inbox: InboxId, services: Services, actor: Identity) -> None:
        self._inbox = inbox
        self._services = services
        self._actor = actor
        self._after = 0
        self._known: set[int] = set()
        """What was yielded after `_after`, past an answer that somebody waits for and may yet leave to the inbox."""
        self._is_awaited = False
        """The last delivery had to be waited for, so the next one will not be there yet either."""

    async def peek(self, wanted: InboxFilter | None = None) -> Sequence[Delivery]:
        """Return all that waits, without waiting and without changing anything."""
        if wanted is not None:
            instance(InboxFilter, wanted, "filter", "use an InboxFilter")
        return [self._delivery(item) for item in await self._services.looking.peek_inbox(self._inbox, wanted)]

    async def next(self, timeout: float) -> Delivery | None:
        """Return the next delivery that this inbox object has not yielded yet, or None after `timeout` seconds. While
        the agent is paused there is none. An answer that an `ask` of this agent waits for is returned by that alone."""

        looks = 0

        async def look() -> Next | None:
            nonlocal looks
            looks += 1
            found = await self._services.looking.next(self._inbox, self._actor.agent, self._after, self._known)
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
            delivery = await self.next(WAIT_SECONDS)
            if delivery is not None:
                yield delivery

    def _delivery(self, item: Item) -> Delivery:
        return Delivery(item, self._services, self._actor)
