"""Mail: sending, looking, receipts, settling and withdrawing."""

from collections.abc import Collection, Sequence
from datetime import datetime
from typing import Final, NamedTuple

from covey.core.authority import check_sender
from covey.core.delivery import WAITING, Delivery, DeliveryState, Move, state_at
from covey.core.draft import Draft, compose
from covey.core.errors import BlobMissing, CoveyError, DeliveryUnknown, IdReused, IllegalMove, MessageUnknown, NotYours
from covey.core.evidence import EvidenceGrade
from covey.core.identity import THE_SPACE, Grade, Identity
from covey.core.ids import InboxId, MessageId, message_topic, parked_inbox, ticket_id
from covey.core.message import Kind, Message
from covey.core.names import AgentName, Scope
from covey.core.parts import FilePart
from covey.core.receipt import Progress, Receipt, progress
from covey.core.ticket import TicketMove, TicketState
from covey.core.wire import encode
from covey.ports.blobs import Blobs
from covey.ports.clock import Clock, Ids
from covey.ports.store import Store, Transaction
from covey.services.acceptance import Acceptance
from covey.services.act import Act, shift, shift_ticket
from covey.services.directory import own_session
from covey.services.leases import lapse
from covey.services.recipients import SendPolicy
from covey.services.waiting import Waiting
from covey.services.warning import warn

PAGE: Final = 64
"""How many deliveries are read at a time where one that fits is looked for."""


FEW: Final = 64
"""So many deliveries are read in the time that it takes to hand the read to another thread."""


class Item(NamedTuple):
    """A delivery with its message, and its state as a reader sees it now."""

    delivery: Delivery
    message: Message
    state: DeliveryState


class InboxFilter(NamedTuple):
    """Which deliveries to look at; what is None does not matter."""

    scope: Scope | None = None
    kind: Kind | None = None
    since: datetime | None = None
    states: Collection[DeliveryState] = WAITING

    def fits(self, item: Item) -> bool:
        return (
            (self.scope is None or item.message.scope == self.scope)
            and (self.kind is None or item.message.kind is self.kind)
            and (self.since is None or item.message.created_at >= self.since)
            and item.state in self.states
        )


class Mail:
    def __init__(
        self, store: Store, clock: Clock, ids: Ids, blobs: Blobs, acceptance: Acceptance, waiting: Waiting
    ) -> None:
        self._store = store
        self._clock = clock
        self._ids = ids
        self._blobs = blobs
        self._acceptance = acceptance
        self._waiting = waiting

    async def send(self, draft: Draft, actor: Identity, policy: SendPolicy) -> Receipt:
        """Accept a message: when this returns it is durable. The same id again returns the same receipt."""
        for part in draft.parts:
            if isinstance(part, FilePart) and not await self._blobs.has(part.digest):
                raise BlobMissing(part.digest)
        now = self._clock.now()
        answered = None if draft.in_reply_to is None else await self.message(draft.in_reply_to)
        relayed = None if draft.relaying is None else await self.message(draft.relaying)
        message = compose(draft, actor, draft.id or self._ids.message_id(now), now, answered, relayed)
        document = encode(message)

        evicted: list[Delivery] = []

        async def operation(tx: Transaction) -> Receipt:
            evicted.clear()  # it may be run more than once before it counts
            if draft.id is not None and (known := await tx.messages.get(draft.id)) is not None:
                return await _repeated(tx, known, message)
            if actor.grade is Grade.SESSION:
                await own_session(tx, actor)
            return await self._acceptance.accept(Act(tx, actor, now), message, document, policy, answered, evicted)

        receipt = await self._store.commit(operation)
        for victim in evicted:
            warn("message %s was evicted from %s, which was full", victim.message_id, victim.inbox)
        return receipt

    async def receipt(self, message_id: MessageId) -> Receipt:
        """Return what has become of a message so far."""

        async def operation(tx: Transaction) -> Receipt:
            if await tx.messages.get(message_id) is None:
                raise MessageUnknown(message_id)
            return Receipt(message_id, tuple(await tx.deliveries.of_message(message_id)))

        return await self._store.read(operation)

    async def until(
        self,
        message_id: MessageId,
        state: DeliveryState,
        timeout: float,
        grade: EvidenceGrade = EvidenceGrade.NAMED,
    ) -> Progress:
        """Wait until every recipient's copy has got as far as `state`; running out of time is an answer too. As far as
        in_context wants evidence of at least `grade`."""

        async def look() -> Progress | None:
            return progress(await self.receipt(message_id), state, grade)

        found = await self._waiting.until([message_topic(message_id)], look, timeout)
        return found or Progress(False, await self.receipt(message_id))

    async def peek(self, agent: AgentName, wanted: InboxFilter | None = None, limit: int = 1000) -> Sequence[Item]:
        """Return what waits for an agent, parked or with any of its sessions, by seq. Looking changes nothing."""

        async def operation(tx: Transaction) -> Sequence[Item]:
            inboxes = [parked_inbox(agent), *(session.inbox for session in await tx.sessions.of_agent(agent))]
            return await self._items(tx, inboxes, wanted or InboxFilter(), 0, limit)

        return await self._store.read(operation, is_long=True)

    async def peek_inbox(
        self, inbox: InboxId, wanted: InboxFilter | None = None, after: int = 0, limit: int = 1000
    ) -> Sequence[Item]:
        """Return what waits in one inbox after a seq. Looking changes nothing."""

        async def operation(tx: Transaction) -> Sequence[Item]:
            return await self._items(tx, [inbox], wanted or InboxFilter(), after, limit)

        return await self._store.read(operation, is_long=limit > FEW)

    async def settle(self, message_id: MessageId, actor: Identity, reason: str = "handled") -> Receipt:
        """Mark the actor's copies of a message as handled. A debt it carries stays owed."""

        async def operation(tx: Transaction) -> Receipt:
            message = await known_message(tx, message_id)
            copies = await tx.deliveries.of_message(message_id)
            mine = [copy for copy in copies if copy.agent == actor.agent or actor.is_operator]
            if not mine:
                raise not_for(message, copies, actor, "settle")
            act = Act(tx, actor, self._clock.now())
            for copy in _own_first(mine, actor):
                if copy.state in WAITING:
                    await shift(act, copy, Move.SETTLE, reason)
            return Receipt(message_id, tuple(await tx.deliveries.of_message(message_id)))

        return await self._store.commit(operation)

    async def withdraw(self, message_id: MessageId, actor: Identity) -> Receipt:
        """Take a message back from every inbox where nobody was shown it. Where nothing can be taken back,
        IllegalMove."""

        async def operation(tx: Transaction) -> Receipt:
            message = await known_message(tx, message_id)
            check_sender(actor, "withdraw", message)
            act = Act(tx, actor, self._clock.now())
            copies = await tx.deliveries.of_message(message_id)
            queued = [copy for copy in copies if state_at(copy, act.now) is DeliveryState.QUEUED]
            if not queued:
                raise IllegalMove("delivery", copies[0].state if copies else "nowhere", Move.WITHDRAW)
            for copy in queued:
                if copy.state is DeliveryState.OFFERED:
                    await lapse(act._replace(actor=THE_SPACE), copy)
                    copy = await tx.deliveries.get(copy.id) or copy
                await shift(act, copy, Move.WITHDRAW, "withdrawn by the sender")
            after = await tx.deliveries.of_message(message_id)
            for agent in {copy.agent for copy in queued if copy.agent is not None}:
                ticket = await tx.tickets.get(ticket_id(message_id, agent))
                if (
                    ticket is not None
                    and ticket.state is TicketState.OPEN
                    and all(copy.is_terminal and not copy.has_arrived for copy in after if copy.agent == agent)
                ):
                    await shift_ticket(act, ticket, TicketMove.WITHDRAW)
            return Receipt(message_id, tuple(after))

        return await self._store.commit(operation)

    async def message(self, message_id: MessageId) -> Message:
        """Return a message."""

        async def operation(tx: Transaction) -> Message:
            return await known_message(tx, message_id)

        return await self._store.read(operation)

    async def _items(
        self, tx: Transaction, inboxes: Sequence[InboxId], wanted: InboxFilter, after: int, limit: int
    ) -> Sequence[Item]:
        items: list[Item] = []
        for inbox in inboxes:
            items += await self._fitting(tx, inbox, wanted, after, limit)
        return sorted(items, key=_by_seq)[:limit]

    async def _fitting(
        self, tx: Transaction, inbox: InboxId, wanted: InboxFilter, after: int, limit: int
    ) -> Sequence[Item]:
        """Return the first `limit` that fit, however many that do not lie before them."""
        now = self._clock.now()
        items: list[Item] = []
        while page := await tx.inboxes.waiting(inbox, WAITING, after, max(limit, PAGE)):
            for delivery in page:
                after = delivery.seq
                item = Item(delivery, await known_message(tx, delivery.message_id), state_at(delivery, now))
                if wanted.fits(item):
                    items.append(item)
                if len(items) == limit:
                    return items
        return items


def _by_seq(item: Item) -> int:
    return item.delivery.seq


def _own_first(copies: Sequence[Delivery], actor: Identity) -> Sequence[Delivery]:
    """Return the copy in the actor's own session where it has one, else all of the agent's."""
    own = [copy for copy in copies if copy.session is not None and copy.session == actor.session]
    return own or copies


def not_for(message: Message, copies: Sequence[Delivery], actor: Identity, action: str) -> CoveyError:
    """Return what to tell someone who would do something to a message that others got: whose it is."""
    owners = sorted({copy.agent for copy in copies if copy.agent is not None})
    return (
        NotYours(action, message.id, actor.agent, " or ".join(owners)) if owners else DeliveryUnknown(message.id, None)
    )


async def known_message(tx: Transaction, message_id: MessageId) -> Message:
    """Return a message; MessageUnknown where there is none."""
    message = await tx.messages.get(message_id)
    if message is None:
        raise MessageUnknown(message_id)
    return message


def _is_same(known: Message, again: Message) -> bool:
    """Tell whether two messages say the same, apart from when and from which session they were sent. A date that was
    given as a span from then on is the same where the span is."""
    shift = again.created_at - known.created_at
    moved = known._replace(created_at=again.created_at, sender=again.sender)
    if known.expires_at is not None and known.expires_at + shift == again.expires_at:
        moved = moved._replace(expires_at=again.expires_at)
    return encode(moved) == encode(again)


async def _repeated(tx: Transaction, known: Message, again: Message) -> Receipt:
    """Return the receipt of a message that is sent again; another content under the same id is IdReused."""
    if known.sender.agent != again.sender.agent or not _is_same(known, again):
        raise IdReused(known.id)
    return Receipt(known.id, tuple(await tx.deliveries.of_message(known.id)))
