"""Messages, deliveries and inboxes as the holder of an agent's token sees them.

Every method of the ports is listed here, so that a new one is restricted before it is used.
"""

from collections.abc import Collection, Sequence
from datetime import datetime
from typing import NoReturn

from covey.core.authority import may_read, sees_copy
from covey.core.delivery import Delivery, DeliveryState
from covey.core.errors import BeyondToken
from covey.core.identity import Identity
from covey.core.ids import DeliveryId, InboxId, MessageId, inbox_session
from covey.core.message import Kind, Message
from covey.core.names import AgentName, Scope, Subject
from covey.ports.ledger import MessageFilter
from covey.ports.store import Transaction

WIDER = 4
"""The factor by which a search grows if too few of its results are visible."""


class NarrowMessages:
    """The messages that the holder sent or received; all others are hidden."""

    def __init__(self, tx: Transaction, holder: Identity) -> None:
        self._tx = tx
        self._holder = holder

    async def get(self, message_id: MessageId) -> Message | None:
        message = await self._tx.messages.get(message_id)
        return message if message is not None and await self._is_own(message) else None

    async def thread(self, thread: MessageId) -> Sequence[Message]:
        return await self._own(await self._tx.messages.thread(thread))

    async def find(self, wanted: MessageFilter, limit: int) -> Sequence[Message]:
        asked = limit
        while True:
            found = await self._tx.messages.find(wanted, asked)
            own = await self._own(found)
            if len(own) >= limit or len(found) < asked:
                return own[max(0, len(own) - limit) :]
            asked *= WIDER

    async def latest_of(self, pair: str) -> Message | None:
        message = await self._tx.messages.latest_of(pair)
        return message if message is not None and await self._is_own(message) else None

    async def add(self, message: Message, document: str, *, is_swept: bool = False) -> None:
        _refuse_writing()

    async def is_swept(self, message_id: MessageId) -> bool:
        return await self.get(message_id) is not None and await self._tx.messages.is_swept(message_id)

    async def sweep(self, scope: Scope) -> int:
        _refuse_writing()

    async def _own(self, messages: Sequence[Message]) -> Sequence[Message]:
        return [message for message in messages if await self._is_own(message)]

    async def _is_own(self, message: Message) -> bool:
        return may_read(self._holder.agent, message, await self._tx.deliveries.of_message(message.id))


class NarrowDeliveries:
    """All copies of messages that the holder sent, and its own copies of messages it received."""

    def __init__(self, tx: Transaction, holder: Identity) -> None:
        self._tx = tx
        self._holder = holder

    async def get(self, delivery_id: DeliveryId) -> Delivery | None:
        delivery = await self._tx.deliveries.get(delivery_id)
        return delivery if delivery is not None and sees_copy(self._holder.agent, delivery) else None

    async def of_message(self, message_id: MessageId) -> Sequence[Delivery]:
        return self._seen(await self._tx.deliveries.of_message(message_id))

    async def unsettled_in(self, scope: Scope) -> Sequence[Delivery]:
        return self._seen(await self._tx.deliveries.unsettled_in(scope))

    async def handled(self, agent: AgentName, number: int) -> Sequence[Delivery]:
        return self._seen(await self._tx.deliveries.handled(agent, number))

    async def lapsed(self, now: datetime, limit: int) -> Sequence[Delivery]:
        """Return the lapsed deliveries of all agents: every active program does upkeep of the space, and checks here
        whether it is due."""
        return await self._tx.deliveries.lapsed(now, limit)

    async def place(self, delivery: Delivery) -> Delivery:
        _refuse_writing()

    async def put(self, delivery: Delivery) -> None:
        _refuse_writing()

    def _seen(self, deliveries: Sequence[Delivery]) -> Sequence[Delivery]:
        return [delivery for delivery in deliveries if sees_copy(self._holder.agent, delivery)]


class NarrowInboxes:
    """The holder's own inboxes: its parked mail, and its sessions."""

    def __init__(self, tx: Transaction, holder: Identity) -> None:
        self._tx = tx
        self._holder = holder

    async def waiting(
        self, inbox: InboxId, states: Collection[DeliveryState], after: int = 0, limit: int = 1000
    ) -> Sequence[Delivery]:
        return await self._tx.inboxes.waiting(inbox, states, after, limit) if await self._is_own(inbox) else ()

    async def queued(self, inbox: InboxId) -> int:
        return await self._tx.inboxes.queued(inbox) if await self._is_own(inbox) else 0

    async def oldest(self, inbox: InboxId, kinds: Collection[Kind]) -> Delivery | None:
        return await self._tx.inboxes.oldest(inbox, kinds) if await self._is_own(inbox) else None

    async def alike(self, inbox: InboxId, sender: AgentName, scope: Scope, subject: Subject) -> Sequence[Delivery]:
        return await self._tx.inboxes.alike(inbox, sender, scope, subject) if await self._is_own(inbox) else ()

    async def occupied(self) -> Sequence[InboxId]:
        raise BeyondToken(self._holder.agent, "look through inboxes")

    async def _is_own(self, inbox: InboxId) -> bool:
        """Tell whether an inbox is the holder's; False if it has no owner. Raise BeyondToken for another agent's
        inbox."""
        session_id = inbox_session(inbox)
        if session_id is None:
            owner = await self._tx.agents.get(AgentName(inbox.partition(":")[2]))
            name = owner.name if owner else None
        else:
            session = await self._tx.sessions.get(session_id)
            name = session.agent if session else None
        if name not in (None, self._holder.agent):
            raise BeyondToken(self._holder.agent, f"read the inbox of {name}")
        return name is not None


def _refuse_writing() -> NoReturn:
    raise RuntimeError("a read does not write: use commit")
