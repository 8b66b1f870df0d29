"""Dialogue: threads, debts, the archive, the gate and the sweep."""

from collections.abc import Sequence
from datetime import datetime
from typing import Final, NamedTuple

from covey.core.authority import check_force, check_recipient, check_sender, check_sweep, seen_by
from covey.core.errors import (
    AlreadyArchived,
    DeliveryUnknown,
    Invalid,
    NotAnswered,
    NumberUnknown,
    OrphanInbox,
    TicketUnknown,
)
from covey.core.formats.layout import file_id
from covey.core.identity import Identity
from covey.core.ledger.delivery import WAITING, DeliveryRecord, DeliveryState, Move, state_at
from covey.core.ledger.event import Action
from covey.core.ledger.message import Message
from covey.core.ledger.outcome import Verdict, verdict
from covey.core.ledger.ticket import Ticket, TicketMove, TicketState
from covey.core.names import AgentName, MessageId, Scope, TicketId, parked_inbox, ticket_id
from covey.ports.clock import Clock
from covey.ports.folder import SharedArchive
from covey.ports.ledger import MessageFilter
from covey.ports.store import Store, Transaction
from covey.services.act import Act, journal, shift, shift_ticket
from covey.services.directory.settings import CLOSED_ROSTER, is_on
from covey.services.mail.current_state import ticket_by_now, tickets_by_now
from covey.services.mail.inbox import InboxItem
from covey.services.mail.mail import not_for
from covey.services.records import known_agent, known_message, message_or_notice


async def unarchived(tx: Transaction, agent: AgentName, now: datetime) -> Sequence[InboxItem]:
    """Return each unarchived message once, by seq. For an unknown agent, raise OrphanInbox if mail waits for that name;
    otherwise raise RecipientUnknown on a closed roster, and return nothing on an open one."""
    found = await _copies(tx, agent, now)
    if await tx.agents.get(agent) is None:
        await _check_unknown(tx, agent, len(found))
    by_seq = sorted(found.values(), key=_seq)
    return [InboxItem(d, await message_or_notice(tx, d.message_id, d.updated_at), state_at(d, now)) for d in by_seq]


async def numbered(tx: Transaction, agent: AgentName, number: int, now: datetime) -> DeliveryRecord | None:
    """Return the delivery with a number for an agent: an unarchived one, otherwise one that was handled."""
    waiting = (copy for copy in (await _copies(tx, agent, now)).values() if copy.number == number)
    handled = await tx.deliveries.handled(agent, number) if number > 0 else ()
    return next(waiting, None) or next(iter(handled), None)


async def _copies(tx: Transaction, agent: AgentName, now: datetime) -> dict[MessageId, DeliveryRecord]:
    found: dict[MessageId, DeliveryRecord] = {}
    for inbox in (parked_inbox(agent), *[session.inbox for session in await tx.sessions.of_agent(agent)]):
        after = 0
        while page := await tx.inboxes.waiting(inbox, WAITING, after):
            after = page[-1].seq
            found |= {d.message_id: d for d in page if d.message_id not in found and state_at(d, now) in WAITING}
    for ticket in await tx.tickets.owed_by(agent):
        copies = [copy for copy in await tx.deliveries.of_message(ticket.message_id) if copy.agent == agent]
        found |= {d.message_id: d for d in copies if d.message_id not in found}
    return found


async def _check_unknown(tx: Transaction, agent: AgentName, waiting: int) -> None:
    if waiting:
        raise OrphanInbox(agent, waiting)
    if await is_on(tx, CLOSED_ROSTER):
        await known_agent(tx, agent)


def _seq(delivery: DeliveryRecord) -> int:
    return delivery.seq


SWEPT: Final = "swept"
"""The reason on a delivery that was waiting in a scope when the scope was swept."""


class SweepResult(NamedTuple):
    """The result of a sweep."""

    scope: Scope
    messages_swept: int
    verdict: Verdict


class Dialogue:
    def __init__(self, store: Store, clock: Clock, shared: SharedArchive | None = None) -> None:
        self._store = store
        self._clock = clock
        self._shared = shared

    async def thread(self, message_id: MessageId) -> Sequence[Message]:
        """Return the whole thread of a message, causes before effects, archived and swept messages included."""

        async def operation(tx: Transaction) -> Sequence[Message]:
            message = await known_message(tx, message_id)
            return await tx.messages.thread(message.thread)

        return await self._store.read(operation, is_long=True)

    async def find(self, wanted: MessageFilter, limit: int = 100) -> Sequence[Message]:
        """Return the newest messages of a scope, subject, kind, sender or time, oldest first."""

        async def operation(tx: Transaction) -> Sequence[Message]:
            return await tx.messages.find(wanted, limit)

        return await self._store.read(operation, is_long=True)

    async def owed_by(self, agent: AgentName) -> Sequence[Ticket]:
        """Return the answers that an agent owes, oldest first."""

        async def operation(tx: Transaction) -> Sequence[Ticket]:
            return await tickets_by_now(tx, await tx.tickets.owed_by(agent), self._clock.now())

        return await self._store.read(operation)

    async def all_owed(self) -> Sequence[Ticket]:
        """Return the answers that all agents owe, by debtor, oldest first."""

        async def operation(tx: Transaction) -> Sequence[Ticket]:
            tickets = [ticket for debtor in await tx.tickets.debtors() for ticket in await tx.tickets.owed_by(debtor)]
            return await tickets_by_now(tx, tickets, self._clock.now())

        return await self._store.read(operation, is_long=True)

    async def owed_to(self, agent: AgentName) -> Sequence[Ticket]:
        """Return the answers that an agent waits for, oldest first."""

        async def operation(tx: Transaction) -> Sequence[Ticket]:
            return await tickets_by_now(tx, await tx.tickets.owed_to(agent), self._clock.now())

        return await self._store.read(operation)

    async def unarchived(self, agent: AgentName) -> Sequence[InboxItem]:
        """Return an agent's unarchived mail, by seq: its waiting mail, and the requests whose tickets are not
        closed."""

        async def operation(tx: Transaction) -> Sequence[InboxItem]:
            return await unarchived(tx, agent, self._clock.now())

        return await self._store.read(operation, is_long=True)

    async def numbered(self, agent: AgentName, number: int) -> DeliveryRecord:
        """Return the delivery with an agent's number, handled or not. Raise NumberUnknown if there is none."""

        async def operation(tx: Transaction) -> DeliveryRecord:
            delivery = await numbered(tx, agent, number, self._clock.now())
            if delivery is None:
                raise NumberUnknown(str(number), agent)
            return delivery

        return await self._store.read(operation, is_long=True)

    async def ticket(self, ticket: TicketId) -> Ticket:
        """Return a ticket as it is now."""

        async def operation(tx: Transaction) -> Ticket:
            return await ticket_by_now(tx, await known_ticket(tx, ticket), self._clock.now())

        return await self._store.read(operation)

    async def archive(self, message_id: MessageId, actor: Identity, recipient: AgentName | None = None) -> None:
        """Archive a message for its recipient: the actor's agent, or the named one if the actor is the operator.

        A request that expects a reply and has none raises NotAnswered, unless trouble has made an answer impossible. If
        other programs share the archive and one of them archives the message at the same moment, AlreadyArchived is
        raised.
        """
        is_claimed = self._shared is None

        async def operation(tx: Transaction) -> None:
            nonlocal is_claimed
            message = await known_message(tx.visible, message_id)
            agent = recipient or actor.agent
            check_recipient(actor, "archive", message, agent)
            act = Act(tx, actor, self._clock.now())
            everyone = await tx.deliveries.of_message(message_id)
            copies = [copy for copy in everyone if copy.agent == agent]
            if not copies:
                raise DeliveryUnknown(message_id, agent) if recipient else not_for(message, everyone, actor, "archive")
            if all(copy.archived_at is not None for copy in copies):
                raise AlreadyArchived(message_id)
            ticket = await tx.tickets.get(ticket_id(message_id, agent))
            is_owed = ticket is not None and ticket.state is not TicketState.CLOSED
            if ticket is not None and is_owed:
                states = {state_at(copy, act.now) for copy in copies}
                has_expired = DeliveryState.EXPIRED in states and not states & WAITING
                if ticket.state is TicketState.OPEN and ticket.trouble is None and not has_expired:
                    raise NotAnswered(message_id)
            if is_owed or any(copy.state in WAITING for copy in copies):  # else the file has left the inbox before
                is_claimed = is_claimed or self._claim(message_id, agent)
                if not is_claimed:
                    raise AlreadyArchived(message_id)
            if ticket is not None and is_owed:
                await shift_ticket(act, ticket, TicketMove.ARCHIVE)
            for copy in copies:
                settled = await shift(act, copy, Move.SETTLE, "archived") if copy.state in WAITING else copy
                await tx.deliveries.put(settled._replace(archived_at=act.now))
            await journal(act, Action.DELIVERY_ARCHIVED, message_id=message_id, agent=agent, scope=message.scope)

        await self._store.commit(operation)

    def _claim(self, message_id: MessageId, agent: AgentName) -> bool:
        ids = {file_id(message_id, agent, is_only) for is_only in (True, False)}
        return self._shared is None or self._shared.claim(ids)

    async def waive(self, ticket: TicketId, actor: Identity) -> Ticket:
        """Give up a debt, as its asker or as the operator: no answer is wanted any more."""

        async def operation(tx: Transaction) -> Ticket:
            owed = await known_ticket(tx.visible, ticket)
            check_sender(actor, "waive the answer to", await known_message(tx, owed.message_id))
            return await shift_ticket(Act(tx, actor, self._clock.now()), owed, TicketMove.WAIVE)

        return await self._store.commit(operation)

    async def gate(self, scope: Scope) -> Verdict:
        """Judge a scope: passed, or the tickets that are still owed in it. Nothing is changed."""

        async def operation(tx: Transaction) -> Verdict:
            return verdict(scope, await tickets_by_now(tx, await tx.tickets.owed_in(scope), self._clock.now()))

        return await self._store.read(operation)

    async def force(self, scope: Scope, actor: Identity, why: str) -> Verdict:
        """Pass the gate in spite of debts. They are closed as forced; the actor, the reason and the tickets are
        journalled."""
        if not why.strip():
            raise Invalid("reason", why, "forcing the gate needs a reason")

        async def operation(tx: Transaction) -> Verdict:
            return await _force(Act(tx, actor, self._clock.now()), scope, why)

        return await self._store.commit(operation)

    async def sweep(self, scope: Scope, actor: Identity, force_because: str | None = None) -> SweepResult:
        """Archive all messages of a scope whose gate is passed or forced. Raise GateClosed if it is not."""
        if force_because is not None and not force_because.strip():
            raise Invalid("reason", force_because, "forcing the gate needs a reason")

        async def operation(tx: Transaction) -> SweepResult:
            act = Act(tx, actor, self._clock.now())
            judged = verdict(scope, seen_by(actor, await tx.tickets.owed_in(scope)))
            if not judged.passed and force_because is not None:
                judged = await _force(act, scope, force_because)
            judged.check()
            unsettled = await tx.deliveries.unsettled_in(scope)
            check_sweep(actor, unsettled)
            for delivery in unsettled:
                await shift(act, delivery, Move.SETTLE, SWEPT)
            moved = await tx.messages.sweep(scope)
            await journal(act, Action.MESSAGE_SWEPT, scope=scope, moved=moved)
            return SweepResult(scope, moved, judged)

        return await self._store.commit(operation, is_long=True)


async def _force(act: Act, scope: Scope, why: str) -> Verdict:
    judged = verdict(scope, await act.tx.tickets.owed_in(scope), forced=True)
    check_force(act.actor, judged.owed)
    await journal(
        act, Action.GATE_FORCED, agent=act.actor.agent, scope=scope, why=why, over=[t.id for t in judged.owed]
    )
    for ticket in judged.owed:
        await shift_ticket(act, ticket, TicketMove.FORCE)
    return judged


async def known_ticket(tx: Transaction, ticket: TicketId) -> Ticket:
    """Return a ticket. Raise TicketUnknown if there is none."""
    found = await tx.tickets.get(ticket)
    if found is None:
        raise TicketUnknown(ticket)
    return found
