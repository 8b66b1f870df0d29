"""Mail: sending, receipts, settling and withdrawing."""

from collections.abc import Sequence
from datetime import datetime
from typing import Final, NamedTuple

import covey.ports as ports
from covey.core.authority import check_sender
from covey.core.errors import (
    BlobMissing,
    CoveyError,
    DeliveryUnknown,
    IdReused,
    IllegalMove,
    MessagePruned,
    NotFound,
    NotYours,
    Unavailable,
)
from covey.core.identity import THE_SPACE, Grade, Identity
from covey.core.ledger.delivery import WAITING, DeliveryRecord, DeliveryState, Move, state_at
from covey.core.ledger.draft import Draft, compose
from covey.core.ledger.marks import Marks
from covey.core.ledger.message import FilePart, Kind, Message
from covey.core.ledger.offer import EvidenceGrade
from covey.core.ledger.outcome import DeliveryProgress, ReceiptRecord, progress
from covey.core.ledger.ticket import TicketMove, TicketState
from covey.core.ledger.wire import encode
from covey.core.names import MessageId, message_topic, ticket_id
from covey.ports.blobs import Blobs
from covey.ports.clock import Clock
from covey.ports.store import Store, Transaction
from covey.services.act import Act, shift, shift_ticket
from covey.services.attention.leases import lapse
from covey.services.mail.acceptance import Acceptance
from covey.services.mail.current_state import copies_by_now
from covey.services.mail.filing import NoticePorts
from covey.services.mail.placement import warn_of
from covey.services.mail.recipients import SendPolicy
from covey.services.polling import Poller
from covey.services.records import OwnSessions, check_not_pruned, known_message
from covey.services.tasks.moves import cancel_task

_PROVEN: Final = (Grade.SESSION, Grade.TOKEN)
"""Identity grades whose session must be checked."""


class Sent(NamedTuple):
    """A message that was accepted, and its receipt."""

    receipt: ReceiptRecord
    message: Message
    is_new: bool = True
    """False if the same message was accepted before."""


class Mail:
    def __init__(
        self,
        store: Store,
        clock: Clock,
        notice_ports: NoticePorts,
        blobs: Blobs,
        acceptance: Acceptance,
        waiting: Poller,
        wire: "ports.Wire | None" = None,
    ) -> None:
        self._store = store
        self._clock = clock
        self._notice_ports = notice_ports
        self._blobs = blobs
        self._acceptance = acceptance
        self._waiting = waiting
        self._strangers = None if wire is None else _strangers(wire)
        self._sessions = OwnSessions()

    async def send(
        self,
        draft: Draft,
        actor: Identity,
        policy: SendPolicy,
        marks: Marks | None = None,
        made_at: datetime | None = None,
    ) -> ReceiptRecord:
        """Accept a message: it is durable when this returns. The same id again returns the same receipt. `marks` are
        set only by services that decide the facts behind them. `made_at` is the time at which a foreign program made
        the message; a time in the future becomes now."""
        return (await self.submit(draft, actor, policy, marks=marks, made_at=made_at)).receipt

    async def submit(
        self,
        draft: Draft,
        actor: Identity,
        policy: SendPolicy,
        answered: Message | None = None,
        marks: Marks | None = None,
        made_at: datetime | None = None,
        new_id: MessageId | None = None,
    ) -> Sent:
        """Accept a message like `send`, and return it too; a message that was sent before is returned as composed now.
        `answered` is the message that it replies to, if the caller has loaded it. `new_id` is an unused id, for a
        caller that must know the id even if it is cancelled."""
        for part in draft.parts:
            if isinstance(part, FilePart) and not await self._blobs.has(part.digest):
                raise BlobMissing(part.digest)
        now = self._clock.now()
        try:
            if draft.in_reply_to is not None and answered is None:
                answered = await self.message(draft.in_reply_to)
            relayed = None if draft.relaying is None else await self.message(draft.relaying)
        except MessagePruned:
            repeated = await self._store.read(lambda tx: _repeated_alone(tx, draft, actor, now))
            if repeated is None:
                raise
            return Sent(repeated, await self.message(repeated.message_id), is_new=False)
        message_id = draft.id or new_id or self._notice_ports.ids.message_id(now)
        led_by = None if draft.led_by is None else await self._known(draft.led_by)
        message = compose(draft, actor, message_id, now, answered, relayed, led_by)
        if marks is not None:
            message = message._replace(marks=marks)
        if made_at is not None:
            message = message._replace(created_at=min(made_at, now))
        document = encode(message)

        evicted: list[DeliveryRecord] = []
        is_new = True
        strangers = self._strangers
        publications = None

        async def operation(tx: Transaction) -> ReceiptRecord | CoveyError:
            nonlocal is_new, publications
            is_new = True  # the operation may run more than once before it is committed
            evicted.clear()
            if draft.id is not None:
                if (known := await tx.messages.get(draft.id)) is not None:
                    is_new = False
                    return await _repeated(tx, known, message, now)
                await check_not_pruned(tx, draft.id)
            if (
                not self._sessions.has(actor, tx.directory_version)
                and actor.session is not None
                and actor.grade in _PROVEN
            ):
                await self._sessions.check(tx, actor)
            accepted = await self._acceptance.accept(Act(tx, actor, now), message, document, policy, answered, evicted)
            if strangers is not None and isinstance(accepted, ReceiptRecord):
                publications = await strangers.publications(tx, message, accepted)
            return accepted

        if draft.kind is Kind.TASK:  # a task needs an agent: it can't wait for an unregistered session
            policy = policy._replace(may_await_session=False)
        try:
            receipt = await self._store.commit(operation)
        except Unavailable as error:
            if not error.details.get("is_unknown"):
                raise
            # Only a caller that knows the id can retry without sending the message twice.
            reason = f"{error.message}; send it again with the id {message_id}: it is stored only once"
            raise Unavailable(reason, **error.details, message_id=message_id) from error
        if isinstance(receipt, CoveyError):
            raise receipt
        warn_of(evicted)
        if strangers is not None and publications and is_new:
            await strangers.publish(message, publications)
        return Sent(receipt, message, is_new)

    async def _known(self, led_by: MessageId) -> Message | None:
        """Return the message that made the sender speak. It is only a hint: None if it was pruned meanwhile."""
        try:
            return await self.message(led_by)
        except NotFound:
            return None

    async def receipt(self, message_id: MessageId) -> ReceiptRecord:
        """Return a message's receipt with the present state of each copy."""

        async def operation(tx: Transaction) -> ReceiptRecord:
            await known_message(tx, message_id)
            return ReceiptRecord(message_id, await copies_by_now(tx, message_id, self._clock.now()))

        return await self._store.read(operation)

    async def until(
        self,
        message_id: MessageId,
        state: DeliveryState,
        timeout: float,
        grade: EvidenceGrade = EvidenceGrade.NAMED,
    ) -> DeliveryProgress:
        """Wait until every recipient's copy has reached `state`; a timeout is a result too. For in_context, evidence of
        at least `grade` is needed."""

        async def look() -> DeliveryProgress | None:
            return progress(await self.receipt(message_id), state, grade)

        found = await self._waiting.until([message_topic(message_id)], look, timeout)
        return found or DeliveryProgress(False, await self.receipt(message_id))

    async def settle(self, message_id: MessageId, actor: Identity, reason: str = "handled") -> ReceiptRecord:
        """Mark the actor's copies of a message as handled. An open ticket of the message stays owed."""

        async def operation(tx: Transaction) -> None:
            message = await known_message(tx.visible, message_id)
            copies = await tx.deliveries.of_message(message_id)
            mine = [copy for copy in copies if copy.agent == actor.agent]
            if not mine and actor.is_operator:
                mine = [*copies]
            if not mine:
                raise not_for(message, copies, actor, "settle")
            act = Act(tx, actor, self._clock.now())
            for copy in _own_first(mine, actor):
                if copy.state in WAITING:
                    await shift(act, copy, Move.SETTLE, reason)

        await self._store.commit(operation)
        return await self.receipt(message_id)

    async def withdraw(self, message_id: MessageId, actor: Identity) -> ReceiptRecord:
        """Withdraw a message from every inbox in which it was not shown. Raise IllegalMove if no copy can be
        withdrawn."""

        async def operation(tx: Transaction) -> ReceiptRecord:
            message = await known_message(tx.visible, message_id)
            check_sender(actor, "withdraw", message)
            act = Act(tx, actor, self._clock.now())
            copies = await tx.deliveries.of_message(message_id)
            queued = [c for c in copies if state_at(c, act.now) is DeliveryState.QUEUED and not c.is_partly_seen]
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
            if message.kind is Kind.TASK:
                await cancel_task(act, message_id, self._notice_ports, "its message was withdrawn")
            return ReceiptRecord(message_id, tuple(after))

        return await self._store.commit(operation)

    async def message(self, message_id: MessageId) -> Message:
        """Return a message. Raise MessagePruned if it was pruned, MessageUnknown if it never existed."""

        async def operation(tx: Transaction) -> Message:
            return await known_message(tx, message_id)

        return await self._store.read(operation)


def _strangers(wire: "ports.Wire"):
    """Return the publisher to foreign programs. Imported late, because most spaces have no wire."""
    from covey.services.peers.foreign_sessions import ForeignSessions

    return ForeignSessions(wire)


def _own_first(copies: Sequence[DeliveryRecord], actor: Identity) -> Sequence[DeliveryRecord]:
    """Return the copy in the actor's own session if there is one, otherwise all copies."""
    own = [copy for copy in copies if copy.session is not None and copy.session == actor.session]
    return own or copies


def not_for(message: Message, copies: Sequence[DeliveryRecord], actor: Identity, action: str) -> CoveyError:
    """Return the error for an actor that has no copy of a message: NotYours with the owners, or DeliveryUnknown."""
    owners = sorted({copy.agent for copy in copies if copy.agent is not None})
    return (
        NotYours(action, message.id, actor.agent, " or ".join(owners)) if owners else DeliveryUnknown(message.id, None)
    )


def _is_same(known: Message, again: Message) -> bool:
    """Tell whether two messages have the same content, apart from their times and sessions. An expiry that was given as
    a duration is the same if the duration is."""
    shift = again.created_at - known.created_at
    moved = known._replace(created_at=again.created_at, sender=again.sender)
    if known.expires_at is not None and known.expires_at + shift == again.expires_at:
        moved = moved._replace(expires_at=again.expires_at)
    return encode(moved) == encode(again)


async def _repeated_alone(tx: Transaction, draft: Draft, actor: Identity, now: datetime) -> ReceiptRecord | None:
    """Like `_repeated`, but for a draft whose referenced message was pruned, so that the draft can't be composed for
    comparison. Return None if the draft was not sent before."""
    if draft.id is None:
        return None
    known = await tx.messages.get(draft.id)
    if known is None:
        await check_not_pruned(tx, draft.id)
        return None
    if (known.sender.agent, known.kind, known.parts) != (actor.agent, draft.kind, draft.parts):
        raise IdReused(known.id)
    return ReceiptRecord(known.id, await copies_by_now(tx, known.id, now))


async def _repeated(tx: Transaction, known: Message, again: Message, now: datetime) -> ReceiptRecord:
    """Return the receipt of a message that is sent again. Raise IdReused if its content differs."""
    if known.sender.agent != again.sender.agent or not _is_same(known, again):
        raise IdReused(known.id)
    return ReceiptRecord(known.id, await copies_by_now(tx, known.id, now))
