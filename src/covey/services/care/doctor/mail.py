"""Mail under examination: inboxes without an owner, deliveries that are held for a showing that is over, and owed
answers that can't be given."""

from collections.abc import AsyncIterator, Sequence
from datetime import datetime
from typing import Final, NamedTuple

from covey.core.care.diagnoses import OFFLINE_DEBTOR, ORPHAN_INBOX, RESERVED_NAME, STUCK_OFFER, UNANSWERABLE_TICKET
from covey.core.care.finding import Area, Examination, Finding
from covey.core.directory.card import Card
from covey.core.identity import THE_SPACE, Identity
from covey.core.ledger.delivery import WAITING, DeliveryRecord, DeliveryState, Move, state_at
from covey.core.ledger.event import Action
from covey.core.ledger.ticket import Ticket, TicketMove, TicketState
from covey.core.names import OPERATOR, SPACE, AgentName, InboxId, inbox_session, is_reserved
from covey.core.reporting import counted
from covey.core.times import format_instant
from covey.ports.care import ProgressCallback
from covey.ports.clock import Clock
from covey.ports.directory import Liveness
from covey.ports.ledger import EventFilter
from covey.ports.store import Store, Transaction
from covey.services.act import Act, shift, shift_ticket
from covey.services.attention.leases import lapse
from covey.services.care.doctor.journal import note
from covey.services.directory.directory import enrol
from covey.services.directory.presence import give_up, is_live, live_sessions

PAGE: Final = 1000
_NUMBERING: Final = (Action.MESSAGE_SENT, Action.DELIVERY_PLACED)
"""Actions that number a delivery: accepting the message, or adopting mail from before the session."""


async def restore_numbers(tx: Transaction, agent: AgentName) -> None:
    """Continue the agent's numbers after the highest number of its mail. Reads the whole journal."""
    highest = 0
    for action in _NUMBERING:
        after = 0
        while events := await tx.journal.read(after, PAGE, EventFilter(action=action)):
            after = events[-1].position
            for event in events:
                if event.message_id is not None:
                    copies = await tx.deliveries.of_message(event.message_id)
                    highest = max((highest, *(copy.number for copy in copies if copy.agent == agent)))
    for _ in range(highest):
        await tx.agents.next_number(agent)


class OrphanedInbox(NamedTuple):
    inbox: InboxId
    why: str
    deliveries: tuple[DeliveryRecord, ...]

    def __str__(self) -> str:
        return f"{self.inbox} ({len(self.deliveries)} waiting; {self.why})"


class InboxesCheckup:
    area = Area.INBOXES

    def __init__(self, store: Store, clock: Clock, liveness: Liveness) -> None:
        self._store = store
        self._clock = clock
        self._liveness = liveness

    async def examine(self, *, thorough: bool, tell: ProgressCallback) -> Examination:
        del thorough, tell

        async def look(tx: Transaction) -> tuple[int, list[OrphanedInbox], list[AgentName]]:
            names = [agent.name for agent in await tx.agents.all() if agent.name not in (OPERATOR, SPACE)]
            reserved = [name for name in names if is_reserved(name)]
            return len(await tx.inboxes.occupied()), [orphan async for orphan in _orphans(tx)], reserved

        occupied, orphans, reserved = await self._store.read(look, is_long=True)
        summary = f"{counted(occupied - len(orphans), 'inbox', 'inboxes')} with mail, all with an owner"
        findings = [_orphan_finding(orphans)] if orphans else []
        if reserved:
            what = f"{counted(len(reserved), 'agent')} with a reserved name"
            findings.append(Finding(RESERVED_NAME, what, tuple(reserved)))
        return Examination(self.area, summary, tuple(findings))

    async def mend(self, findings: Sequence[Finding], actor: Identity) -> None:
        async def operation(tx: Transaction) -> None:
            act = Act(tx, actor, self._clock.now())
            orphans = [orphan async for orphan in _orphans(tx)]
            if orphans:
                await note(act, _orphan_finding(orphans))
            for orphan in orphans:
                for agent in {d.agent for d in orphan.deliveries if d.agent is not None}:
                    if await tx.agents.get(agent) is None:
                        await enrol(act, agent, Card())
                        await restore_numbers(tx, agent)
                if inbox_session(orphan.inbox) is not None:
                    for delivery in orphan.deliveries:
                        await self._hand_on(act, delivery)

        await self._store.commit(operation, is_long=True)

    async def _hand_on(self, act: Act, delivery: DeliveryRecord) -> None:
        """Move a delivery out of the inbox of a session that has ended or never existed."""
        if delivery.agent is not None:
            siblings = await live_sessions(act, delivery.agent, self._liveness)
            if delivery.inbox not in {sibling.inbox for sibling in siblings}:
                await give_up(act, delivery, delivery.agent, siblings)
            return
        if delivery.state is DeliveryState.OFFERED:
            delivery = await shift(act, delivery, Move.RETURN, "its session never existed")
        await shift(act, delivery, Move.EXPIRE, "its session never existed")


def _orphan_finding(orphans: Sequence[OrphanedInbox]) -> Finding:
    waiting = sum(len(orphan.deliveries) for orphan in orphans)
    what = f"{counted(waiting, 'message')} in {counted(len(orphans), 'inbox', 'inboxes')} without an owner"
    return Finding(ORPHAN_INBOX, what, tuple(map(str, orphans)))


async def _orphans(tx: Transaction) -> AsyncIterator[OrphanedInbox]:
    for inbox in await tx.inboxes.occupied():
        why = await _why_orphaned(tx, inbox)
        if why is not None:
            deliveries = [delivery async for delivery in _held(tx, inbox) if not _is_early(delivery)]
            if deliveries:
                yield OrphanedInbox(inbox, why, tuple(deliveries))


async def _why_orphaned(tx: Transaction, inbox: InboxId) -> str | None:
    """Return why an inbox has no owner; None if it has one."""
    session_id = inbox_session(inbox)
    if session_id is None:
        agent = AgentName(inbox.partition(":")[2])
        return None if await tx.agents.get(agent) is not None else f"no agent has the name {agent}"
    session = await tx.sessions.get(session_id)
    if session is None:
        return "there is no such session"
    if session.has_ended:
        return f"the session of {session.agent} has ended"
    return None if await tx.agents.get(session.agent) is not None else f"no agent has the name {session.agent}"


async def _held(tx: Transaction, inbox: InboxId) -> AsyncIterator[DeliveryRecord]:
    after = 0
    while page := await tx.inboxes.waiting(inbox, WAITING, after):
        after = page[-1].seq
        for delivery in page:
            yield delivery


def _is_early(delivery: DeliveryRecord) -> bool:
    """Tell whether a message was sent to a session id before that session was registered, and still waits for it."""
    return delivery.agent is None and delivery.expires_at is not None


class OffersCheckup:
    area = Area.OFFERS

    def __init__(self, store: Store, clock: Clock) -> None:
        self._store = store
        self._clock = clock

    async def examine(self, *, thorough: bool, tell: ProgressCallback) -> Examination:
        del thorough, tell
        held, stuck = await self._store.read(self._look, is_long=True)
        summary = f"{counted(held - len(stuck), 'message')} shown, waiting for evidence"
        return Examination(self.area, summary, (_stuck_finding(stuck),) if stuck else ())

    async def mend(self, findings: Sequence[Finding], actor: Identity) -> None:
        async def operation(tx: Transaction) -> None:
            act = Act(tx, actor, self._clock.now())
            by_time = act._replace(actor=THE_SPACE)  # the actor only found the change, which time made
            _, stuck = await self._look(tx)
            if stuck:
                await note(act, _stuck_finding(stuck))
            for delivery in stuck:
                if await _is_offered(tx, delivery):
                    await lapse(by_time, delivery)
                # An offer that does not list the delivery does not return it.
                if await _is_offered(tx, delivery):
                    await shift(by_time, delivery, Move.RETURN, "its offer is lost")

        await self._store.commit(operation, is_long=True)

    async def _look(self, tx: Transaction) -> tuple[int, list[DeliveryRecord]]:
        """Return the number of offered deliveries, and those of them that are stuck."""
        now = self._clock.now()
        held = 0
        stuck: list[DeliveryRecord] = []
        for inbox in await tx.inboxes.occupied():
            after = 0
            while page := await tx.inboxes.waiting(inbox, {DeliveryState.OFFERED}, after):
                after = page[-1].seq
                held += len(page)
                stuck += [delivery for delivery in page if await _is_stuck(tx, delivery, now)]
        return held, stuck


def _stuck_finding(stuck: Sequence[DeliveryRecord]) -> Finding:
    what = f"{counted(len(stuck), 'message')} still offered after the end of the offer"
    return Finding(STUCK_OFFER, what, tuple(map(_offer_line, stuck)))


async def _is_stuck(tx: Transaction, delivery: DeliveryRecord, now: datetime) -> bool:
    """Tell whether the lease is over, or no open offer holds the delivery."""
    if delivery.lease_until is None or state_at(delivery, now) is not DeliveryState.OFFERED:
        return True
    offer = await tx.offers.get(delivery.offer) if delivery.offer is not None else None
    return offer is None or offer.ended_at is not None


async def _is_offered(tx: Transaction, delivery: DeliveryRecord) -> bool:
    found = await tx.deliveries.get(delivery.id)
    return found is not None and found.state is DeliveryState.OFFERED


def _offer_line(delivery: DeliveryRecord) -> str:
    until = delivery.lease_until
    lease = f"lease until {format_instant(until)[:19]}Z" if until else "no lease"
    return f"{delivery.id} for {delivery.agent or '?'} ({lease})"


NEVER_SEEN: Final = frozenset(
    {
        DeliveryState.EVICTED,
        DeliveryState.EXPIRED,
        DeliveryState.REFUSED,
        DeliveryState.SUPERSEDED,
        DeliveryState.UNDELIVERABLE,
        DeliveryState.WITHDRAWN,
    }
)
"""States in which a request has ended without an answer and is not shown any more."""


class HopelessTicket(NamedTuple):
    ticket: Ticket
    why: str

    def __str__(self) -> str:
        scope = f" in {self.ticket.scope}" if self.ticket.scope else ""
        return f"{self.ticket.id}, asked by {self.ticket.asker}{scope}: {self.why}"


class OfflineDebtor(NamedTuple):
    """An agent without a live session, and the questions that it has to answer."""

    agent: AgentName
    tickets: tuple[Ticket, ...]

    def __str__(self) -> str:
        oldest = min(self.tickets, key=lambda ticket: ticket.opened_at)
        since = format_instant(oldest.opened_at)[:19]
        return (
            f"{self.agent}: {counted(len(self.tickets), 'answer')}, the oldest to {oldest.asker} since {since}Z;"
            f" covey owed {self.agent}"
        )


class TicketsCheckup:
    area = Area.TICKETS

    def __init__(self, store: Store, clock: Clock, liveness: Liveness) -> None:
        self._store = store
        self._clock = clock
        self._liveness = liveness

    async def examine(self, *, thorough: bool, tell: ProgressCallback) -> Examination:
        del thorough, tell

        async def look(tx: Transaction) -> tuple[int, list[HopelessTicket], list[OfflineDebtor]]:
            owed = [ticket async for ticket in _owed(tx)]
            hopeless = await _hopeless(tx, owed)
            lost = {found.ticket.id for found in hopeless}
            return len(owed), hopeless, await self._offline(tx, [ticket for ticket in owed if ticket.id not in lost])

        owed, hopeless, offline = await self._store.read(look, is_long=True)
        summary = f"{counted(owed - len(hopeless), 'answer')} owed that can be given"
        findings = (_hopeless_finding(hopeless),) if hopeless else ()
        return Examination(self.area, summary, findings, remarks=(_offline_finding(offline),) if offline else ())

    async def _offline(self, tx: Transaction, owed: Sequence[Ticket]) -> list[OfflineDebtor]:
        """Return the agents without a live session that have to answer next, by name. People behind a channel have no
        sessions, and are left out."""
        now = self._clock.now()
        waiting: dict[AgentName, list[Ticket]] = {}
        for ticket in owed:
            if ticket.state is TicketState.OPEN and ticket.awaits is None:
                waiting.setdefault(ticket.debtor, []).append(ticket)
        return [
            OfflineDebtor(agent, tuple(waiting[agent]))
            for agent in sorted(waiting)
            if not any(is_live(s, self._liveness, now) for s in await tx.sessions.of_agent(agent))
            and not await _is_channel(tx, agent)
        ]

    async def mend(self, findings: Sequence[Finding], actor: Identity) -> None:
        """Close the debts that were found, if they are still hopeless. Debts that arose since were not approved for
        closing."""
        shown = {item for finding in findings for item in finding.items}

        async def operation(tx: Transaction) -> None:
            act = Act(tx, actor, self._clock.now())
            hopeless = await _hopeless(tx, [ticket async for ticket in _owed(tx)])
            agreed = [found for found in hopeless if str(found) in shown]
            if agreed:
                await note(act, _hopeless_finding(agreed))
            for ticket, _ in agreed:
                await shift_ticket(act, ticket, TicketMove.FORCE)

        await self._store.commit(operation, is_long=True)


def _offline_finding(offline: Sequence[OfflineDebtor]) -> Finding:
    answers = counted(sum(len(debtor.tickets) for debtor in offline), "answer")
    return Finding(
        OFFLINE_DEBTOR, f"{answers} owed by {counted(len(offline), 'offline agent')}", tuple(map(str, offline))
    )


def _hopeless_finding(hopeless: Sequence[HopelessTicket]) -> Finding:
    what = f"{counted(len(hopeless), 'answer')} owed that no agent can give"
    return Finding(UNANSWERABLE_TICKET, what, tuple(map(str, hopeless)))


async def _is_channel(tx: Transaction, name: AgentName) -> bool:
    agent = await tx.agents.get(name)
    return agent is not None and agent.card.channel


async def _owed(tx: Transaction) -> AsyncIterator[Ticket]:
    for debtor in await tx.tickets.debtors():
        for ticket in await tx.tickets.owed_by(debtor):
            yield ticket


async def _hopeless(tx: Transaction, owed: Sequence[Ticket]) -> list[HopelessTicket]:
    judged = [(ticket, await _why_hopeless(tx, ticket)) for ticket in owed]
    return [HopelessTicket(ticket, why) for ticket, why in judged if why is not None]


async def _why_hopeless(tx: Transaction, ticket: Ticket) -> str | None:
    """Return why the answer can't be given, or the answered request can't be archived; None if it can."""
    if await tx.agents.get(ticket.debtor) is None:
        return f"no agent has the name {ticket.debtor}"
    if ticket.state is not TicketState.OPEN:
        return None
    if ticket.trouble is not None:
        return f"the request was {ticket.trouble}"
    copies = [copy for copy in await tx.deliveries.of_message(ticket.message_id) if copy.agent == ticket.debtor]
    if all(copy.state in NEVER_SEEN for copy in copies):
        return "no copy of the request is left" if copies else "the request is in no inbox"
    return None
