"""The audit: a comparison of a space's records with its journal and with the rules of the ledger."""

from collections.abc import AsyncIterator, Sequence
from typing import Final

from covey.core.care.consistency import (
    Disagreement,
    copies_faults,
    debtors_faults,
    delivery_account,
    delivery_faults,
    differing,
    number_faults,
    session_account,
    ticket_account,
    ticket_faults,
)
from covey.core.care.replay import Replay
from covey.core.ledger.delivery import WAITING, DeliveryRecord
from covey.core.ledger.event import Event
from covey.core.ledger.message import Message
from covey.core.ledger.ticket import Ticket
from covey.core.names import DeliveryId, InboxId, MessageId, inbox_session, parked_inbox, session_inbox
from covey.core.work.run import Run
from covey.ports.care import ProgressCallback
from covey.ports.ledger import MessageFilter
from covey.ports.store import Store, Transaction
from covey.ports.work import RunFilter
from covey.services.care.task_audit import (
    AuditTotals,
    binding_faults,
    message_post_faults,
    message_task_faults,
    task_listing_faults,
)


async def pruned_faults(tx: Transaction, replay: Replay, _books: AuditTotals) -> AsyncIterator[Disagreement]:
    """Check that every removed message has its tombstone, and that every message an offer showed is stored or was
    pruned."""
    for fault in differing("pruned messages", "space", replay.pruned, await tx.pruned.count()):
        yield fault
    for message_id, fault in replay.absent.items():
        if not await tx.pruned.has(message_id):
            yield fault


ALL: Final = 1_000_000_000


async def run_faults(tx: Transaction, replay: Replay, _books: AuditTotals) -> AsyncIterator[Disagreement]:
    """Check that every run has its spawn in the journal and the state that its moves lead to, and that none is
    missing."""
    runs = {run.id: run for run in await tx.runs.find(RunFilter(), ALL)}
    for run_id in {**replay.runs, **runs}:
        run = runs.get(run_id)
        for fault in differing("run", run_id, replay.runs.get(run_id), None if run is None else run.state):
            yield fault
        if run is not None:
            async for fault in _of_run(tx, run):
                yield fault


async def _of_run(tx: Transaction, run: Run) -> AsyncIterator[Disagreement]:
    for fault in differing("run's end", run.id, run.has_ended, run.ended_at is not None):
        yield fault
    if not run.is_told and not run.has_ended:
        yield Disagreement("run's end", run.id, "no untold end, because it runs", "untold")
    session = await tx.sessions.get(run.session)
    kept = None if session is None else (session.agent, session.key, session.has_ended)
    for fault in differing("run's session", run.id, (run.agent, run.key, run.has_ended), kept):
        yield fault


async def message_faults(
    tx: Transaction, replay: Replay, books: AuditTotals, message_id: MessageId, deliveries: Sequence[DeliveryId]
) -> AsyncIterator[Disagreement]:
    """Examine one message, and enter its records into the books."""
    message = await tx.messages.get(message_id)
    if message is None:
        yield Disagreement("message", message_id, "a record, because it was sent", "none")
        return
    copies = await tx.deliveries.of_message(message.id)
    async for fault in _copies(tx, replay, books, message, copies, deliveries):
        yield fault
    async for fault in message_task_faults(tx, replay, books, message, copies):
        yield fault
    async for fault in message_post_faults(tx, replay, copies):
        yield fault
    for ticket in await tx.tickets.of_message(message_id):
        books.enter_ticket(ticket)
        account = replay.tickets.get(ticket.id)
        for fault in differing("ticket", ticket.id, account, ticket_account(ticket)):
            yield fault
        async for fault in _ticket(tx, message, ticket):
            yield fault


async def _copies(
    tx: Transaction,
    replay: Replay,
    books: AuditTotals,
    message: Message,
    copies: Sequence[DeliveryRecord],
    deliveries: Sequence[DeliveryId],
) -> AsyncIterator[Disagreement]:
    for fault in (
        *differing("deliveries", message.id, list(deliveries), [copy.id for copy in copies]),
        *copies_faults(message, copies),
        *debtors_faults(message, copies, await tx.tickets.of_message(message.id)),
        *number_faults(books.numbers, copies),
    ):
        yield fault
    for copy in copies:
        books.enter_delivery(copy)
        offer = await tx.offers.get(copy.offer) if copy.offer is not None else None
        for fault in (
            *differing("delivery", copy.id, replay.deliveries.get(copy.id), delivery_account(copy)),
            *delivery_faults(copy, message, offer),
        ):
            yield fault


async def _ticket(tx: Transaction, request: Message, ticket: Ticket) -> AsyncIterator[Disagreement]:
    answer = await tx.messages.get(ticket.answer) if ticket.answer is not None else None
    if ticket.answer is not None and answer is None and await tx.pruned.has(ticket.answer):
        ticket = ticket._replace(answer=None)  # a long thread is pruned in parts, newest first
    awaited = await tx.tickets.get(ticket.awaits) if ticket.awaits is not None else None
    for fault in ticket_faults(ticket, request, answer, awaited):
        yield fault


RECENT: Final = 10_000
"""The number of newest messages that are looked up in the journal; damage from a crash is among them."""


async def inbox_faults(tx: Transaction, replay: Replay, books: AuditTotals) -> AsyncIterator[Disagreement]:
    """Check that each inbox lists its waiting deliveries in order and counts the queued ones, and that the inbox of an
    ended session is empty."""
    inboxes = {*books.inboxes, *map(session_inbox, replay.sessions), *map(parked_inbox, replay.agents)}
    for inbox in sorted(inboxes):
        expected = sorted(books.waiting.get(inbox, {}).items(), key=lambda entry: entry[1])
        listed = [(delivery.id, delivery.seq) for delivery in await _waiting(tx, inbox)]
        session_id = inbox_session(inbox)
        session = replay.sessions.get(session_id) if session_id is not None else None
        left = listed if session is not None and session.has_ended else []
        for fault in (
            *differing("inbox", inbox, expected, listed),
            *differing("queued", inbox, books.queued[inbox], await tx.inboxes.queued(inbox)),
            *differing("mail left in an ended session", inbox, [], left),
        ):
            yield fault


async def session_faults(tx: Transaction, replay: Replay, _books: AuditTotals) -> AsyncIterator[Disagreement]:
    """Check that sessions agree with the journal, and that all sessions that have not ended are listed."""
    for session_id, account in replay.sessions.items():
        session = await tx.sessions.get(session_id)
        for fault in differing("session", session_id, account, session and session_account(session)):
            yield fault
    expected = sorted(session_id for session_id, account in replay.sessions.items() if not account.has_ended)
    current = await tx.sessions.current()
    for fault in differing("current sessions", "space", expected, sorted(session.id for session in current)):
        yield fault
    for session in current:
        if session not in await tx.sessions.of_agent(session.agent):
            yield Disagreement("sessions of agent", session.agent, session.id, "not listed")


async def agent_faults(tx: Transaction, replay: Replay, _books: AuditTotals) -> AsyncIterator[Disagreement]:
    """Check that the agents are those of the journal."""
    names = [agent.name for agent in await tx.agents.all()]
    for fault in differing("agents", "space", sorted(replay.agents), names):
        yield fault


async def owed_faults(tx: Transaction, replay: Replay, books: AuditTotals) -> AsyncIterator[Disagreement]:
    """Check that every debt is listed under its debtor, its asker and its scope."""
    for agent in sorted(replay.agents):
        for fault in (
            *differing("owed by", agent, sorted(books.owed.by.get(agent, ())), _ids(await tx.tickets.owed_by(agent))),
            *differing("owed to", agent, sorted(books.owed.to.get(agent, ())), _ids(await tx.tickets.owed_to(agent))),
        ):
            yield fault
    for scope in sorted(books.scopes):
        listed = _ids(await tx.tickets.owed_in(scope))
        for fault in differing("owed in", scope, sorted(books.owed.scope.get(scope, ())), listed):
            yield fault


async def recent_faults(tx: Transaction, replay: Replay, _books: AuditTotals) -> AsyncIterator[Disagreement]:
    """Check that every recent message is in the journal."""
    for message in await tx.messages.find(MessageFilter(), RECENT):
        if message.id not in replay.messages:
            yield Disagreement("event", message.id, "an event for its sending", "none")


async def _waiting(tx: Transaction, inbox: InboxId) -> Sequence[DeliveryRecord]:
    found: list[DeliveryRecord] = []
    while page := await tx.inboxes.waiting(inbox, WAITING, found[-1].seq if found else 0):
        found.extend(page)
    return found


def _ids(tickets: Sequence[Ticket]) -> list[str]:
    return sorted(ticket.id for ticket in tickets)


PAGE: Final = 1000
"""The number of events per read."""


LISTINGS: Final = (
    inbox_faults,
    session_faults,
    agent_faults,
    owed_faults,
    task_listing_faults,
    recent_faults,
    pruned_faults,
    binding_faults,
    run_faults,
)
"""Checks that run after all messages were examined."""


class Audit:
    """Checks everything and changes nothing. The cost grows with the stored data: for tests and for `covey doctor`."""

    def __init__(self, store: Store) -> None:
        self._store = store

    async def check(self, tell: ProgressCallback | None = None) -> Sequence[Disagreement]:
        """Return every contradiction within the space, over one consistent snapshot; an empty sequence if there is
        none. `tell` is called with the progress, from the thread or loop that runs the store's long reads."""
        return await self._store.read(lambda tx: _examine(tx, tell or _tell_nobody), is_long=True)


def _tell_nobody(_done: int, _of: int | None) -> None:
    """Ignore progress, for callers that want none."""


async def _examine(tx: Transaction, tell: ProgressCallback) -> Sequence[Disagreement]:
    replay = Replay()
    last = await tx.journal.last()
    async for event in _events(tx):
        replay.apply(event)
        if event.position % PAGE == 0:
            tell(event.position, 2 * last)
    books = AuditTotals()
    found = list(replay.faults)
    for done, (message_id, deliveries) in enumerate(replay.messages.items()):
        found.extend([fault async for fault in message_faults(tx, replay, books, message_id, deliveries)])
        if done % PAGE == 0:
            tell(last + last * done // len(replay.messages), 2 * last)
    for check in LISTINGS:
        found.extend([fault async for fault in check(tx, replay, books)])
    return found


async def _events(tx: Transaction) -> AsyncIterator[Event]:
    after = 0
    while page := await tx.journal.read(after, PAGE):
        for event in page:
            yield event
        after = page[-1].position
